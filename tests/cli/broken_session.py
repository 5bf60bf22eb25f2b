#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A session that breaks its word: broken_session.py DIR ANSWER is session "broken" of the runtime
directory DIR. It reads one message of each client, gives the answer or answers, and hangs up, until it is
killed or nobody comes."""
import json
import os
import socket
import struct
import sys

METRICS, FAILED, EXITED, HOSTS = 3, 8, 7, 11
STARTING = 8


def message(kind, version=5, job=1, value=0, flags=0, behind=b""):
    return struct.pack("<IIIIiII", version, kind, job, flags, value, 0, 0) + bytes(68) + behind


def host(name, *sums):
    return struct.pack("<264s5Q", name, *sums, 0)


ANSWERS = {
    "short": b"x",
    "version": message(EXITED, version=99),
    "kind": message(77),
    "unasked": message(4),
    "stranger": message(EXITED, job=77),
    "no-error": message(FAILED),
    "cut-error": message(FAILED, behind=b"abc"),
    "empty-error": message(FAILED, behind=bytes(4 + 48 + 1536 + 1024)),
    "wild-error": message(FAILED, value=5, behind=struct.pack("<i", 5) + b"\xff" * (48 + 1536 + 1024)),
    "rude-error": message(FAILED, value=5, behind=struct.pack(
        "<i48s1536s1024s", 5, b"rude", b"a\x1b[31mb", b"c\nd\x07")),
    "long": message(EXITED, behind=b"y" * 100000),
    "end": message(EXITED, job=0),
    "twice": [message(EXITED), message(EXITED)],
    "gone": [],
    "starting": message(METRICS, flags=STARTING, behind=bytes(22 * 8)),
    "hosts": message(HOSTS, behind=host(b"web.example:80", 1, 2, 3, 0) + host(b"a\x1b[31mb", 0, 0, 0, 4) +
                     host(b"", 5, 6, 7, 8)),
    "no-hosts": message(HOSTS),
    "cut-hosts": message(HOSTS, behind=host(b"web.example:80", 1, 2, 3, 0)[:-1]),
    "open-hosts": message(HOSTS, behind=host(b"x" * 264, 1, 2, 3, 0)),
    "many-hosts": message(HOSTS, behind=66 * host(b"x", 1, 2, 3, 0)),
}


def main():
    place = os.path.join(sys.argv[1], "bawn", "broken")
    os.makedirs(place, mode=0o700)
    os.chmod(os.path.dirname(place), 0o700)
    with open("/proc/self/stat", encoding="ascii") as stat:
        start = int(stat.read().rsplit(")", 1)[1].split()[19])
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind(os.path.join(place, "control"))
        door.listen(1)
        with open(os.path.join(place, "record.json"), "w", encoding="ascii") as record:
            json.dump({"sid": "broken", "pid": os.getpid(), "start": start, "started": 1,
                       "command": ["true"], "workspace": "/", "enforcement": "full",
                       "detached": True, "terminal": False, "cgroups": []}, record)
        door.settimeout(20)
        while True:
            client, _ = door.accept()
            with client:
                client.settimeout(20)
                client.recv(1 << 18)
                answers = ANSWERS[sys.argv[2]]
                for answer in answers if isinstance(answers, list) else [answers]:
                    client.send(answer)


main()
