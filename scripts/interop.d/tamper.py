"""Changes one thing in every form of a bundle that has it: tamper.py CASE BUNDLE. The bundle is changed in place."""

import base64
import json
import re
import sys


def flipped(data, at):
    """The bytes with one bit of the byte at `at` changed."""
    data = bytearray(data)
    data[at] ^= 1
    return bytes(data)


def envelopes(name, change):
    """Changes payload and signatures of each envelope in a file of JSON lines."""
    with open(f"{bundle}/{name}", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    for line in lines:
        envelope = line.get("dsseEnvelope", line)
        for holder, field in [(envelope, "payload"), *((one, "sig") for one in envelope["signatures"])]:
            changed = change(field, base64.b64decode(holder[field]))
            holder[field] = base64.b64encode(changed).decode()
    with open(f"{bundle}/{name}", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


case, bundle = sys.argv[1:]
CHANGES = {
    # The last digit stays a digit: what is left is JSON of the same shape.
    "statement": lambda field, data: flipped(data, [m.start() for m in re.finditer(rb"\d", data)][-1]) if field == "payload" else data,
    "type": lambda field, data: data.replace(b"in-toto.io/Statement/v1", b"in-toto.io/Statement/v0.1") if field == "payload" else data,
    "signature": lambda field, data: flipped(data, 20) if field == "sig" else data,
}
if case in CHANGES:
    for name in ["attestations.intoto.jsonl", "conformance.sigstore.json"]:
        envelopes(name, CHANGES[case])
if case == "signature":
    with open(f"{bundle}/conformance.sshsig", encoding="utf-8") as file:
        first, *body, last = file.read().splitlines()
    blob = flipped(base64.b64decode("".join(body)), -20)
    with open(f"{bundle}/conformance.sshsig", "w", encoding="utf-8") as file:
        file.write(f"{first}\n{base64.b64encode(blob).decode()}\n{last}\n")
if case == "file":
    with open(f"{bundle}/payload/results.json", "r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(flipped(data, len(data) // 2))
