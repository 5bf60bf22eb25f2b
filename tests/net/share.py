#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""share.py PROGRAM HOST PORT [hidden]: asks a server by a socket that a process of another program has open, too;
hidden: so that others of its user cannot look into the one that asks."""
import ctypes
import os
import socket
import subprocess
import sys
import time

PR_SET_DUMPABLE = 4


def main():
    program, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    to = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)[0][4]
    with socket.socket() as sock, subprocess.Popen([program, "30"], pass_fds=[sock.fileno()]) as other:
        while os.stat(f"/proc/{other.pid}/exe").st_ino != os.stat(program).st_ino:
            time.sleep(0.01)
        if sys.argv[4:] == ["hidden"]:
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        try:
            sock.settimeout(10)
            sock.connect(to)
            sock.sendall(f"GET /shared HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            print(sock.recv(4096).decode(errors="replace"))
        except OSError as error:
            print(type(error).__name__)
        other.kill()


main()
