#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""serve.py ADDRESS PORT: serves each client in the words of its first line, inside, until standard input ends.

sum: reads to the end, then says how many bytes there were and their SHA-256 · give COUNT: so many bytes, then
the end · echo: what was said · hang: nothing
"""
import hashlib
import socket
import sys
import threading

BLOCK = bytes(range(256)) * 256


def take(sock, reader):
    size, total = 0, hashlib.sha256()
    while data := reader.read(65536):
        size += len(data)
        total.update(data)
    sock.sendall(f"{size} {total.hexdigest()}".encode())


def give(sock, count):
    while count > 0:
        sock.sendall(BLOCK[:count])
        count -= len(BLOCK)


def serve(sock):
    with sock, sock.makefile("rb") as reader:
        words = reader.readline().split()
        try:
            if words[:1] == [b"sum"]:
                take(sock, reader)
            elif words[:1] == [b"give"]:
                give(sock, int(words[1]))
            elif words[:1] == [b"echo"]:
                sock.sendall(b" ".join(words))
            elif words:
                reader.read()
        except OSError:
            pass


def main():
    address, port = sys.argv[1], int(sys.argv[2])
    listener = socket.create_server((address, port), backlog=512,
                                    family=socket.AF_INET6 if ":" in address else socket.AF_INET)

    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


main()
