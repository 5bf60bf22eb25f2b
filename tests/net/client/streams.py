# SPDX-License-Identifier: Apache-2.0
"""streams.py HOST PATH: HTTPS by asyncio's streams."""
import asyncio
import ssl
import sys


async def main(host, path):
    reader, writer = await asyncio.open_connection(host, 443, ssl=ssl.create_default_context())
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    print(body, end="")
    return 0 if head.startswith("HTTP/1.1 200") else 1


sys.exit(asyncio.run(main(*sys.argv[1:])))
