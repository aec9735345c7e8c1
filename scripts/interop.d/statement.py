"""Reads the statements of a bundle with in-toto's own types: statement.py BUNDLE ARTIFACT. No signature is looked at."""

import base64
import hashlib
import json
import sys

from google.protobuf.json_format import MessageToDict, Parse, ParseDict
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as Message

bundle, artifact = sys.argv[1:]
with open(artifact, "rb") as file:
    found = hashlib.file_digest(file, "sha256").hexdigest()
with open(f"{bundle}/attestations.intoto.jsonl", encoding="utf-8") as lines:
    payloads = [base64.b64decode(json.loads(line)["payload"], validate=True) for line in lines]
for payload in payloads:
    statement = Statement.copy_from_pb(Parse(payload, Message()))
    try:
        statement.validate()
    except ValueError as error:
        sys.exit(f"rejected: {error}")
    if found not in [subject.digest["sha256"] for subject in statement.pb.subject]:
        sys.exit(f"rejected: it is not about sha256:{found}")
    if statement.pb.predicate_type == "https://in-toto.io/attestation/test-result/v0.1":
        # A field that this type does not have is an error here.
        ParseDict(MessageToDict(statement.pb.predicate), TestResult())
