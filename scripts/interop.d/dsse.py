"""Verifies line 1 of a bundle's attestations with securesystemslib: dsse.py BUNDLE KEY.pub ARTIFACT."""

import hashlib
import json
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

bundle, public, artifact = sys.argv[1:]
with open(f"{bundle}/attestations.intoto.jsonl", encoding="utf-8") as lines:
    envelope = Envelope.from_dict(json.loads(lines.readline()))
with open(public, "rb") as pem:
    key = load_pem_public_key(pem.read())
# The hint names the key that is tried; it proves nothing.
keys = [SSlibKey.from_crypto(key, keyid=keyid) for keyid in envelope.signatures]
try:
    envelope.verify(keys, 1)
except VerificationError as error:
    sys.exit(f"rejected: {error}")
with open(artifact, "rb") as file:
    found = hashlib.file_digest(file, "sha256").hexdigest()
if found not in [subject["digest"]["sha256"] for subject in json.loads(envelope.payload)["subject"]]:
    sys.exit(f"rejected: it is not about sha256:{found}")
