#!/usr/bin/env python3
"""docker, with a daemon of its own for each sandbox: an adapter of docs/ADAPTERS.md, for root.

Its arguments are those of `docker run`. The daemon is the first process of a pid namespace and keeps its state in a mount
namespace, so that its end ends everything that it started, however it comes.
"""

import io
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading

DOCKER = "/usr/bin/docker"
# Whatever the daemon and its shims leave in /run and /etc is left in mounts of their own.
DAEMON = """
set -e
mount -n -t tmpfs tmpfs "$0/state"
mount -n --rbind /run /mnt
mount -n -t tmpfs tmpfs /run
mkdir /run/user /run/watertight
mount -n --rbind /mnt/user /run/user
mount -n --rbind /mnt/watertight /run/watertight
mount -n -t tmpfs tmpfs /etc/docker
exec dockerd --data-root "$0/state/data" --exec-root "$0/state/exec" --pidfile "$0/state/pid" --host "unix://$0/socket" \
    --bridge none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false --userland-proxy=false \
    --cgroup-parent "/$(basename "$0")" --log-level error
"""

sandboxes = {}
over = False
starting, answering = threading.Lock(), threading.Lock()


class Sandbox:
    def __init__(self, asked):
        self.directory = tempfile.mkdtemp(dir=asked["run_dir"])
        self.environment = [word for name in asked["environment"] for word in ("-e", name)]
        self.workspace = asked["workspace"]
        os.mkdir(f"{self.directory}/state")
        self.ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.ready.bind(f"{self.directory}/ready")
        words = ["unshare", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child", "sh", "-c", DAEMON]
        self.daemon = subprocess.Popen(
            [*words, self.directory],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "NOTIFY_SOCKET": f"{self.directory}/ready"},
        )

    def wait_until_ready(self):
        ended = os.pidfd_open(self.daemon.pid)
        while ended not in select.select([self.ready, ended], [], [])[0]:
            if b"READY=1" in self.ready.recv(4096).split(b"\n"):
                os.close(ended)
                return
        raise RuntimeError("dockerd did not start")

    def docker(self, *words, **options):
        return subprocess.run(self.words(*words), check=True, capture_output=True, **options).stdout.decode().strip()

    def words(self, *words):
        return [DOCKER, "--host", f"unix://{self.directory}/socket", *words]

    def end(self):
        with open(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children") as children:
            first = children.read().split()
        # When the namespace's first process is gone, so are all others: unshare then ends.
        os.kill(int(first[0]) if first else self.daemon.pid, signal.SIGKILL)
        self.daemon.wait()
        self.ready.close()
        for path, _, _ in os.walk(f"/sys/fs/cgroup/{os.path.basename(self.directory)}", topdown=False):
            os.rmdir(path)
        shutil.rmtree(self.directory)


def image():
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as files:
        for name in ["bin", "lib", "lib64", "sbin"]:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            files.addfile(link)
        for name, mode in [("usr", 0o755), ("tmp", 0o1777), ("root", 0o700)]:
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = tarfile.DIRTYPE, mode
            files.addfile(directory)
    return tar.getvalue()


def hello(_):
    version = subprocess.run(["dockerd", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    return {"protocol": 1, "name": "docker", "version": version.rstrip(","), "supports": ["sockets", "none", "inspect"]}


def up(asked):
    with starting:
        if over:
            raise RuntimeError("nobody asks any more")
        box = Sandbox(asked)
        sandboxes[box.directory] = box
    box.wait_until_ready()
    box.docker("import", "-", "box", input=image())
    shown = ["/usr", asked["program"]] + ([asked["sockets"]] if "sockets" in asked else [])
    mounts = [word for path in shown for word in ("-v", f"{path}:{path}:ro")]
    mounts += ["-v", f"{asked['workspace']}:{asked['workspace']}"]
    box.container = box.docker("run", "-d", *sys.argv[1:], *mounts, "box", "sleep", "infinity")
    return {"sandbox": box.directory}


def inspect(asked):
    box = sandboxes[asked["sandbox"]]
    cgroup = f"/{os.path.basename(box.directory)}/{box.container}"
    with open(f"/sys/fs/cgroup{cgroup}/cgroup.procs") as procs:
        pids = [int(pid) for pid in procs]
    namespaces = {kind: os.stat(f"/proc/{pids[0]}/ns/{kind}").st_ino for kind in ["net", "pid", "mnt"]}
    return {"pids": pids, "cgroup": cgroup, "namespaces": namespaces}


def execute(asked):
    box = sandboxes[asked["sandbox"]]
    words = box.words("exec", "-i", *box.environment, "-w", box.workspace, box.container, *asked["argv"])
    return {"status": subprocess.run(words, stdin=3, stdout=4, stderr=5, check=False).returncode}


def down(asked):
    box = sandboxes.pop(asked["sandbox"], None)
    if box:
        box.end()
    return {}


VERBS = {"hello": hello, "up": up, "inspect": inspect, "exec": execute, "down": down}


def answer(asked):
    try:
        said = {"ok": VERBS[asked["verb"]](asked)}
    except subprocess.CalledProcessError as error:
        said = {"error": f"{error}: {error.stderr.decode()}"}
    except Exception as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    with answering:
        print(json.dumps({"id": asked["id"], **said}), flush=True)


for line in sys.stdin:
    threading.Thread(target=answer, args=[json.loads(line)], daemon=True).start()
with starting:
    over = True
for sandbox in list(sandboxes):  # Nobody will ask any more.
    down({"sandbox": sandbox})
