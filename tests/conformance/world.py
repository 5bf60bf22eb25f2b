# SPDX-License-Identifier: Apache-2.0
"""A host of a case's own: a mount and a network namespace where nothing that a row writes is real."""
import ctypes
import errno
import fcntl
import os
import re
import shutil
import socket
import stat
import struct
import subprocess

import vectors
from hosts import Hosts

TOP = "/home/vector"
BIN = f"{TOP}/bin"
START = f"{vectors.WORKSPACE}/conformance"  # with the probe; a command starts below the workspace
EXTRA = f"{TOP}/extra.yaml"
LAYERS = {"org": "/etc/bawn/policy.yaml",
          "user": f"{vectors.HOME}/.config/bawn/policy.yaml",
          "project": f"{vectors.WORKSPACE}/.bawn/policy.yaml",
          "approved project": f"{vectors.WORKSPACE}/.bawn/policy.yaml",
          "local": f"{vectors.WORKSPACE}/.bawn/local.yaml",
          "policy": EXTRA}
# Fresh, or a copy to which nothing of the host's is lost.
EMPTY = {"/home": "mode=755", "/srv": "mode=755", "/root": "mode=700", "/tmp": "mode=1777",
         "/run": "mode=755", "/opt": "mode=755", "/etc": "mode=755", "/var/tmp": "mode=1777"}
COPIED = ["/usr", "/var"]
# What programs need of /etc: an overlay's ids cannot be mapped, and root's grants need that.
KEPT = ("passwd group shadow subuid subgid login.defs hosts hostname nsswitch.conf ld.so.cache "
        "ld.so.conf os-release").split()
SEED = b"# of the host: "  # a comment, for the files that are policies

LIBC = ctypes.CDLL(None, use_errno=True)
MS_REC, MS_PRIVATE = 0x4000, 0x40000
NEWNS, NEWNET = 0x20000, 0x40000000


def call(name, *arguments):
    """A call of the C library that must work."""
    if getattr(LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}", str(arguments))


def mount(source, target, kind, options):
    call("mount", source.encode(), target.encode(), kind.encode(), 0, options.encode())


def enter():
    """Into namespaces of this process's own."""
    call("unshare", NEWNS | NEWNET)
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    mount("tmpfs", "/mnt", "tmpfs", "mode=755")
    for path in COPIED:
        upper, work = f"/mnt{path}/upper", f"/mnt{path}/work"
        os.makedirs(upper), os.makedirs(work)
        shutil.copystat(path, upper)
        mount("overlay", path, "overlay", f"lowerdir={path},upperdir={upper},workdir={work}")
    kept = {}
    for name in KEPT:
        if os.path.exists(f"/etc/{name}"):
            with open(f"/etc/{name}", "rb") as file:
                kept[name] = (file.read(), os.stat(file.fileno()).st_mode & 0o777)
    for path, options in EMPTY.items():
        mount("tmpfs", path, "tmpfs", options)
    for name, (data, mode) in kept.items():
        with open(f"/etc/{name}", "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
    with open("/etc/resolv.conf", "wb") as file:
        file.write(b"nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    connect_all()


def connect_all():
    """Every address leads to this namespace itself: nothing leaves it."""
    with socket.socket() as any_socket:
        flags = struct.pack("16sh14x", b"lo", 0x1 | 0x40)
        fcntl.ioctl(any_socket, 0x8914, flags)  # SIOCSIFFLAGS: up, running
    index = socket.if_nametoindex("lo")
    for family in (socket.AF_INET, socket.AF_INET6):
        # A local route to everywhere: RTN_LOCAL, table local, through lo. From loopback: an address that is
        # its own source is this machine's own.
        source = socket.inet_pton(family, "127.0.0.1" if family == socket.AF_INET else "::1")
        body = struct.pack("BBBBBBBBI", family, 0, 0, 0, 255, 4, 254, 2, 0)
        body += struct.pack("HHI", 8, 4, index) + struct.pack("HH", 4 + len(source), 7) + source
        head = struct.pack("IHHII", 16 + len(body), 24, 0x1 | 0x4 | 0x400, 1, 0)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
            route.send(head + body)
            answer = struct.unpack_from("i", route.recv(4096), 16)[0]
            if answer not in (0, -errno.EAFNOSUPPORT, -errno.EOPNOTSUPP):
                raise OSError(-answer, "a local route to everywhere")


def is_own(path):
    """Whether a path is in what enter() made."""
    return any(path.startswith(top.encode() + b"/") for top in (*EMPTY, *COPIED))


class World:
    """The files of one case. there: each path that a row names is made before; False: only the
    directories of what may be written or read; None: only the case's tree."""

    def __init__(self, case, user, there):
        self.case, self.user, self.there = case, user, there
        self.listeners, self.hosts = {}, None

    def own(self, path):
        if isinstance(path, int):
            os.fchown(path, self.user.pw_uid, self.user.pw_gid)
        else:
            os.lchown(path, self.user.pw_uid, self.user.pw_gid)

    def make_dirs(self, path):
        if os.path.isdir(path):
            return
        self.make_dirs(os.path.dirname(path))
        os.mkdir(path)
        self.own(path)

    def make_file(self, path, data, mode=0o644):
        self.make_dirs(os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, mode)
        self.own(path)

    def make_entry(self, line):
        """dir PATH, file PATH, text PATH -> TEXT, socket PATH, link PATH -> TARGET, hard PATH -> TARGET"""
        word, path = line.split(b" ", 1)
        if word == b"dir":
            self.make_dirs(path)
        elif word == b"file":
            self.make_file(path, SEED + repr(path).encode())
        elif word == b"text":
            self.make_file(*path.split(b" -> ", 1))
        elif word == b"socket":
            self.listen_unix(path)
        else:
            path, target = path.split(b" -> ", 1)
            self.make_dirs(os.path.dirname(path))
            (os.symlink if word == b"link" else lambda t, p: os.link(t, p))(target, path)

    def make(self, programs):
        """programs: names and bytes, since the places where they are may be covered."""
        enter()
        for path in (TOP, vectors.HOME, vectors.WORKSPACE, self.user.pw_dir):
            self.make_dirs(path.encode())
        self.own(TOP)
        os.mkdir(BIN)
        self.programs = programs
        for name, data in programs.items():
            if not name.startswith("libs/"):
                self.make_file(f"{START if name == 'probe' else BIN}/{name}".encode(), data, 0o755)
        for kind, text in self.case.layers:
            # With an org policy each run must be recorded, which a sandbox in a sandbox without a home cannot.
            if kind == "org":
                text = text + (b"audit: on\n" if isinstance(text, bytes) else "audit: on\n")
            self.make_file(LAYERS[kind].encode(), text)
            if kind == "org":
                os.chown("/etc/bawn", 0, 0)
                os.chown(LAYERS[kind], 0, 0)
        for line in self.case.tree:
            self.make_entry(line)
        if self.there is not False:
            self.make_later()
        for kind, _ in self.case.layers:
            if kind == "approved project":
                self.run(["policy", "approve", "--yes", "-C", vectors.WORKSPACE, LAYERS[kind]], check=True)
        if self.there is not None:
            self.seed(programs["probe"])

    def bring_asker(self):
        """What asks inside, where there is nothing of the host's, with its libraries."""
        for name, data in self.programs.items():
            if name.startswith("libs/") or name == "bawn-policy":
                # By a name that no pattern of a case matches.
                self.make_file(f"{START}/{name.replace('bawn-policy', 'program')}".encode(), data, 0o755)

    def make_later(self):
        for line in self.case.later:
            self.make_entry(line)

    def real(self, row):
        """Where a row's path leads outside."""
        path = os.path.join(vectors.WORKSPACE.encode(), row.what)
        own = re.fullmatch(rb"(?:/proc/(?:thread-)?self/root(?:/\.\.)?)*(?:(/.*))?", path, re.DOTALL)
        path = own[1] or b"/"
        path = re.sub(rb"^/proc/(?:thread-)?self/cwd", vectors.WORKSPACE.encode(), path)
        try:
            return os.path.realpath(path)
        except OSError:
            return path  # a link of procfs that is closed even to us

    def seed(self, program):
        rows = [row for row in self.case.rows if row.operation in ("read", "write", "exec")
                and not row.rule.startswith("unresolved")]
        paths = {self.real(row) for row in rows}
        programs = {self.real(row) for row in rows if row.operation == "exec"}
        for row in self.case.rows:
            if self.there and row.what.startswith(b"unix:") and is_own(row.what[5:]):
                self.listen_unix(row.what[5:])
        for row in rows:
            path = self.real(row)
            if os.path.lexists(path) or not is_own(path):
                continue
            parent = os.path.dirname(path)
            if not self.there:
                # What another row asks about is left to be made inside.
                if row.verdict == "allow" and not any((parent + b"/").startswith(other + b"/")
                                                      for other in paths):
                    self.make_quietly(parent)
                continue
            if not self.make_quietly(parent):
                continue
            if any(other.startswith(path + b"/") for other in paths):
                os.mkdir(path)
                self.own(path)
                self.make_file(path + b"/conformance-decoy", SEED)
            elif path in programs:
                self.make_file(path, program, 0o755)
            else:
                self.make_file(path, SEED + repr(path).encode())

    def make_quietly(self, path):
        """Whether the directory is there: a name that is too long, or a file above, stays."""
        try:
            self.make_dirs(path)
            if path in (b"/etc", b"/opt") and self.user.pw_uid != 0:
                self.own(path)
            return True
        except OSError:
            return False

    def look(self, row):
        """What a witness outside sees at a row's path."""
        try:
            path = self.real(row)
            at = os.stat(path)
        except OSError:
            return None
        if not os.path.isfile(path) or not is_own(path):
            return (at.st_mode, b"")
        with open(path, "rb") as file:
            return (at.st_mode, file.read(64))

    def listen_unix(self, path):
        path = os.path.normpath(path)
        if path in self.listeners:
            return
        self.make_dirs(os.path.dirname(path))
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen(8)
        os.chmod(path, 0o777)
        self.own(path)
        self.listeners[path] = server

    def serve(self, port):
        """Every name and every address, at this port: each of them leads here."""
        if not self.hosts:
            self.hosts = Hosts()
        self.hosts.listen(port)

    def environment(self):
        return {"HOME": vectors.HOME, "PATH": "/usr/bin:/bin", "USER": self.user.pw_name,
                "LC_ALL": "C.UTF-8", "TERM": "dumb"}

    def become(self):
        # A pipe is opened anew by /proc/self/fd/N only by its owner.
        for fd in range(3):
            if stat.S_ISFIFO(os.fstat(fd).st_mode):
                self.own(fd)
        os.setgroups([])
        os.setgid(self.user.pw_gid)
        os.setuid(self.user.pw_uid)

    def run(self, arguments, **more):
        """bawn, as the user of the case."""
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stderr", subprocess.PIPE)
        more.setdefault("cwd", START)
        return subprocess.run([f"{BIN}/bawn", *arguments], timeout=60,
                              env=self.environment(), stdout=subprocess.PIPE,
                              preexec_fn=self.become, **more)

    def converse(self, arguments, data, when_ready, program=(f"{BIN}/bawn",)):
        """As run(), and once the probe is there what appears later is made, and data is given to it."""
        with subprocess.Popen([*program, *arguments], cwd=START, env=self.environment(),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=self.become) as process:
            first = process.stdout.readline()
            if first and self.there is False:
                self.make_later()
            when_ready()
            try:
                out, err = process.communicate(data, timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def inside(self, path):
        """A path's name inside, where the workspace may be at another place."""
        for pair in self.case.keys:
            key, place = pair.split("=", 1)
            if key == "sandbox.workspace_mount" and (path + b"/").startswith(vectors.WORKSPACE.encode() + b"/"):
                return place.encode() + path[len(vectors.WORKSPACE):]
        return path

    def policy(self):
        """The options that select the case's policy."""
        words = ["-C", vectors.WORKSPACE, "--profile", self.case.profile]
        words += [word for name in self.case.presets for word in ("--preset", name)]
        words += [word for pair in self.case.keys for word in ("--set", pair)]
        if any(kind == "policy" for kind, _ in self.case.layers):
            words += ["--policy", EXTRA]
        return words
