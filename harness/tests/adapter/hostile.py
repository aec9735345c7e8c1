"""An adapter that confines nothing and goes wrong as its arguments say: HOW, and at which VERB."""

import json
import os
import signal
import subprocess
import sys
import threading

how, where = sys.argv[1:3]


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def ok(asked, **answer):
    say(json.dumps({"id": asked["id"], "ok": answer}))


def wrong(asked):
    if how == "hang":
        signal.pause()
    elif how == "garbage":
        say("Pulling \x1b[2J\u202e image")
    elif how == "huge":
        say("x" * (1 << 20))
    elif how == "endless":
        while True:
            sys.stdout.write("x" * 4096)
    elif how == "exit":
        os._exit(3)
    elif how == "other-id":
        say(json.dumps({"id": asked["id"] + 100, "ok": {}}))
    elif how == "twice":
        right(asked)
        right(asked)
    elif how == "other-version":
        ok(asked, protocol=2, name="x", version="1", supports=[])
    elif how == "no-route":
        ok(asked, protocol=1, name="x", version="1", supports=["inspect"])
    elif how == "long-id":
        ok(asked, sandbox="x" * 1000)
    elif how == "no-such-process":
        ok(asked, pids=[4_000_000_000])
    elif how == "no-such-cgroup":
        ok(asked, cgroup="/no/such/cgroup")
    elif how == "other-namespace":
        ok(asked, pids=[os.getpid()], namespaces={"net": 1})
    elif how == "nothing":
        ok(asked)
    elif how == "refuse":
        say(json.dumps({"id": asked["id"], "error": "no such \x1b[2J image"}))
    elif how == "leave":
        subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, start_new_session=True)
        right(asked)


def run(asked):
    done = subprocess.run(asked["argv"], stdin=3, stdout=4, stderr=5, check=False)
    ok(asked, status=done.returncode % 256)


def right(asked):
    verb = asked["verb"]
    if verb == "hello":
        ok(asked, protocol=1, name="hostile", version="1", supports=["none", "inspect"])
    elif verb == "up":
        ok(asked, sandbox="the only one")
    elif verb == "inspect":
        ok(asked, pids=[os.getpid()])
    elif verb == "exec":
        threading.Thread(target=run, args=[asked], daemon=True).start()
    else:
        ok(asked)


for line in sys.stdin:
    asked = json.loads(line)
    if asked["verb"] == where:
        wrong(asked)
    else:
        right(asked)
if where == "end":
    signal.pause()
