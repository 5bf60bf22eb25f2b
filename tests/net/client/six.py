# SPDX-License-Identifier: Apache-2.0
"""six.py HOST PATH: knows no IPv4."""
import socket
import sys

host, path = sys.argv[1:]
sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
sock.settimeout(20)
sock.connect(socket.getaddrinfo(host, 80, socket.AF_INET6, socket.SOCK_STREAM)[0][4])
sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
head, _, body = sock.makefile("rb").read().decode().partition("\r\n\r\n")
print(body, end="")
sys.exit(0 if head.startswith("HTTP/1.1 200") else 1)
