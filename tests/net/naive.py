#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""naive.py: a proxy that lets everybody reach everything, where bawn's is inside: 127.0.0.1:800, HTTP, CONNECT,
SOCKS. With it instead of bawn every case must go red. Says "ready"."""
import asyncio
import socket
import struct
from urllib.parse import urlsplit


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        pass


async def join(reader, writer, host, port, say, first=b""):
    far_reader, far_writer = await asyncio.open_connection(host, port)
    writer.write(say)
    far_writer.write(first)
    await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
    far_writer.close()


async def socks5(reader, writer):
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    writer.write(b"\5" + methods[:1])
    _, command, _, kind = await reader.readexactly(4)
    if kind == 3:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("latin-1")
    else:
        host = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6,
                                await reader.readexactly(4 if kind == 1 else 16))
    port = struct.unpack("!H", await reader.readexactly(2))[0]
    done = b"\5\0\0\1" + bytes(6)
    if command == 1:
        await join(reader, writer, host, port, done)
    else:
        writer.write(done)


async def socks4(reader, writer):
    _, port = struct.unpack("!BH", await reader.readexactly(3))
    address = await reader.readexactly(4)
    await reader.readuntil(b"\0")
    host = socket.inet_ntoa(address)
    if address[:3] == b"\0\0\0":
        host = (await reader.readuntil(b"\0"))[:-1].decode("latin-1")
    await join(reader, writer, host, port, b"\0\x5a" + bytes(6))


async def http(reader, writer, first):
    head = first + await reader.readuntil(b"\r\n\r\n")
    line, _, rest = head.partition(b"\r\n")
    method, target, *_ = line.decode("latin-1").split(" ")
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        await join(reader, writer, host.strip("[]"), int(port), b"HTTP/1.1 200 OK\r\n\r\n")
        return
    url = urlsplit(target)
    line = line.replace(f"{url.scheme}://{url.netloc}".encode("latin-1"), b"", 1)
    await join(reader, writer, url.hostname, url.port or 80, b"", line + b"\r\n" + rest)


async def serve(reader, writer):
    try:
        first = await reader.readexactly(1)
        if first in (b"\4", b"\5"):
            await (socks5 if first == b"\5" else socks4)(reader, writer)
        else:
            await http(reader, writer, first)
    except (OSError, ValueError, UnicodeError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 800, limit=1 << 22)
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())
