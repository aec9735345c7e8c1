#!/usr/bin/env python3
"""bubblewrap as a sandbox that runs first and gets its command later: an adapter of docs/ADAPTERS.md.

Its arguments are bubblewrap's own. Inside waits a shell that reads its commands from a FIFO, so that whatever it runs has
all the confinement that the sandbox began with.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

# Descriptors 3, 4 and 5 are the workload's standard input, output and error. The shell says when it waits, and with which
# status each command ended, on its own standard output.
SHELL = 'while echo ready; do . "$0"; done'
STDIO = "<&3 >&4 2>&5 3<&- 4>&- 5>&-"

sandboxes = {}
answering = threading.Lock()


def hello(_):
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    return {"protocol": 1, "name": "bubblewrap", "version": version, "supports": ["sockets", "none", "inspect"]}


def up(asked):
    directory = tempfile.mkdtemp(dir=asked["run_dir"])
    commands = f"{directory}/commands"
    os.mkfifo(commands)
    shown = [asked["program"], commands] + ([asked["sockets"]] if "sockets" in asked else [])
    words = ["bwrap", *sys.argv[1:]]
    for path in shown:
        words += ["--ro-bind", path, path]
    words += ["--bind", asked["workspace"], asked["workspace"], "--chdir", asked["workspace"]]
    environment = {name: os.environ[name] for name in ["PATH", *asked["environment"]] if name in os.environ}
    process = subprocess.Popen(
        [*words, "--", "sh", "-c", SHELL, commands],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, pass_fds=[3, 4, 5], env=environment, text=True,
    )
    sandboxes[directory] = process
    if process.stdout.readline() != "ready\n":
        down({"sandbox": directory})
        raise RuntimeError(f"bubblewrap did not start: status {process.returncode}")
    return {"sandbox": directory}


def inspect(asked):
    outer = sandboxes[asked["sandbox"]].pid
    with open(f"/proc/{outer}/task/{outer}/children") as children:
        inner = int(children.read().split()[0])
    kinds = ["net", "pid", "mnt", "user"]
    return {"pids": [inner], "namespaces": {kind: os.stat(f"/proc/{inner}/ns/{kind}").st_ino for kind in kinds}}


def execute(asked):
    process = sandboxes[asked["sandbox"]]
    with open(f"{asked['sandbox']}/commands", "w") as commands:
        commands.write(f"{shlex.join(asked['argv'])} {STDIO}\necho $?\n")
    return {"status": int(process.stdout.readline())}


def down(asked):
    process = sandboxes.pop(asked["sandbox"], None)
    if process:
        process.kill()
        process.wait()
        shutil.rmtree(asked["sandbox"])
    return {}


VERBS = {"hello": hello, "up": up, "inspect": inspect, "exec": execute, "down": down}


def answer(asked):
    try:
        said = {"ok": VERBS[asked["verb"]](asked)}
    except Exception as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    with answering:
        print(json.dumps({"id": asked["id"], **said}), flush=True)


try:
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["verb"] == "exec":  # Other verbs must be answered while it runs.
            threading.Thread(target=answer, args=[asked], daemon=True).start()
        else:  # By this thread: bubblewrap dies with the thread that started it.
            answer(asked)
except BrokenPipeError:
    pass  # The launcher was killed, so that nobody reads the answer.
for sandbox in list(sandboxes):  # Nobody will ask any more.
    down({"sandbox": sandbox})
