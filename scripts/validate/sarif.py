"""Fails where a SARIF document is not of its schema, or where Microsoft's validator found anything in it.

Arguments: the schema, the validator's findings, the documents.
"""

import json
import sys

import jsonschema

# The tool has no public address of its own that `informationUri` could name.
ACCEPTED = {"SARIF2005"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


schema, findings, *documents = sys.argv[1:]
problems = []
validator = jsonschema.Draft202012Validator(load(schema))
for document in documents:
    problems += [f"{document}: {error.json_path}: {error.message}" for error in validator.iter_errors(load(document))]
for run in load(findings)["runs"]:
    for result in run["results"]:
        if result["ruleId"].split("/")[0] not in ACCEPTED:
            place = result["locations"][0]["physicalLocation"]["artifactLocation"].get("uri", "")
            problems.append(f"{place}: {result['ruleId']}: {result['message']}")
if not documents:
    problems.append("there is no document")
print("\n".join(problems))
sys.exit(bool(problems))
