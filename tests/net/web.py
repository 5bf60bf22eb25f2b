# SPDX-License-Identifier: Apache-2.0
"""The lab's web server, HTTP/1.1 on plain connections and in TLS. Logs every request. What a path asks for:

/echo the body back · /big?bytes=N · /chunked · /redirect?to=URL · /git/REPOSITORY · /www/FILE
/hostile/HOW: an answer that no proxy may trust · Upgrade: websocket: an echo behind 101
"""
import asyncio
import hashlib
import mimetypes
import os
import time
from urllib.parse import parse_qs, unquote, urlsplit

BLOCK = bytes(65536)
HEAD_BYTES = 1 << 20
ENDLESS_SECONDS = 20


class Request:
    def __init__(self, head):
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\n")
        self.method, self.target, self.version = (first.strip().split(" ", 2) + ["", ""])[:3]
        self.headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            self.headers.setdefault(name.strip().lower(), value.strip())
        parts = urlsplit(self.target)
        self.path, self.query = unquote(parts.path), {k: v[0] for k, v in parse_qs(parts.query).items()}
        self.raw_query = parts.query


async def read_body(request, reader):
    if request.headers.get("transfer-encoding", "").lower() == "chunked":
        body = b""
        while size := int((await reader.readline()).split(b";")[0], 16):
            body += await reader.readexactly(size)
            await reader.readline()
        while (await reader.readline()).strip():
            pass
        return body
    return await reader.readexactly(int(request.headers.get("content-length") or 0))


def head(status, length=None, more=()):
    lines = [f"HTTP/1.1 {status}", "Server: lab", *more]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Web:
    def __init__(self, log, folder):
        self.log, self.folder = log, folder

    async def serve(self, reader, writer, about):
        """One connection, with all its requests."""
        try:
            while True:
                request = Request(await reader.readuntil(b"\r\n\r\n"))
                self.log.say("http", **about, method=request.method, target=request.target,
                             host=request.headers.get("host"), headers=request.headers)
                if request.headers.get("expect", "").lower() == "100-continue":
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = await read_body(request, reader)
                keep = await self.answer(request, body, reader, writer)
                await writer.drain()
                if not keep or request.headers.get("connection", "").lower() == "close":
                    break
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError,
                TimeoutError):
            pass
        finally:
            writer.close()

    async def answer(self, request, body, reader, writer):
        """Whether the connection can go on."""
        way = request.path.strip("/").split("/")[0]
        if request.headers.get("upgrade", "").lower() == "websocket":
            return await self.upgrade(reader, writer)
        if way in ("hostile", "git", "www", "big"):
            return await getattr(self, way)(request, body, writer)
        if way == "echo":
            writer.write(head("200 OK", len(body)) + body)
        elif way == "sum":
            said = f"{len(body)} {hashlib.sha256(body).hexdigest()}\n".encode()
            writer.write(head("200 OK", len(said)) + said)
        elif way == "chunked":
            writer.write(head("200 OK", more=["Transfer-Encoding: chunked"]) + b"4\r\nlab \r\n3\r\nend\r\n0\r\n\r\n")
        elif way == "redirect":
            writer.write(head("302 Found", 0, ["Location: " + request.query.get("to", "/")]))
        else:
            said = b"" if request.method == "HEAD" else f"lab {request.path}\n".encode()
            writer.write(head("200 OK", len(said)) + said)
        return True

    @staticmethod
    async def upgrade(reader, writer):
        writer.write(head("101 Switching Protocols", more=["Upgrade: websocket", "Connection: Upgrade"]))
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        return False

    @staticmethod
    async def big(request, _, writer):
        left = int(request.query.get("bytes", 1 << 20))
        writer.write(head("200 OK", left))
        while left > 0:
            writer.write(BLOCK[:left])
            left -= len(BLOCK)
            await writer.drain()
        return True

    async def www(self, request, _, writer):
        path = os.path.normpath(self.folder + request.path)
        if os.path.isdir(path):
            path += "/index.html"
        if not path.startswith(self.folder + "/www/") or not os.path.isfile(path):
            writer.write(head("404 Not Found", 0))
            return True
        with open(path, "rb") as file:
            data = file.read()
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        writer.write(head("200 OK", len(data), ["Content-Type: " + kind]) + data)
        return True

    async def git(self, request, body, writer):
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.folder + "/git", "GIT_HTTP_EXPORT_ALL": "1",
               "PATH_INFO": request.path[len("/git"):], "QUERY_STRING": request.raw_query,
               "REQUEST_METHOD": request.method, "REMOTE_ADDR": "lab", "GIT_CONFIG_COUNT": "1",
               "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
               "CONTENT_TYPE": request.headers.get("content-type", ""), "CONTENT_LENGTH": str(len(body)),
               "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
               "GIT_PROTOCOL": request.headers.get("git-protocol", "")}
        program = await asyncio.create_subprocess_exec(
            "git", "http-backend", env=env, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        output = (await program.communicate(body))[0]
        lines, _, data = output.partition(b"\r\n\r\n")
        more = lines.decode().split("\r\n")
        status = next((line[8:] for line in more if line.startswith("Status: ")), "200 OK")
        writer.write(head(status, len(data), [line for line in more if not line.startswith("Status:")]) + data)
        return True

    @staticmethod
    async def hostile(request, _, writer):
        """Answers to distrust; what has no end by itself has one here."""
        way = request.path.split("/")[2]
        until = time.monotonic() + ENDLESS_SECONDS
        plain = {
            "old": b"no status line at all\n",
            "close": b"",
            "half": head("200 OK", 1000) + b"cut",
            "lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 30\r\n\r\nlab",
            "both": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nlab\r\n0\r\n\r\n",
            "chunk": head("200 OK", more=["Transfer-Encoding: chunked"]) + b"fffffffffffffffff\r\nlab",
            "status": b"HTTP/1.1 2000 OK\r\n\r\n",
            "nul": b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n",
            "second": head("200 OK", 3) + b"lab" + head("200 OK", 8) + b"unwanted",
            "switch": head("101 Switching Protocols", more=["Upgrade: other", "Connection: Upgrade"]) + b"lab",
        }
        if way in plain:
            writer.write(plain[way])
        elif way == "header":
            writer.write(b"HTTP/1.1 200 OK\r\nX: ")
            for _ in range(256):
                writer.write(b"a" * 65536)
                await writer.drain()
        elif way == "early":
            while time.monotonic() < until:
                writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)
                await writer.drain()
        elif way == "slow":
            for byte in head("200 OK", 3) + b"lab":
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)
        elif way == "silent":
            await asyncio.sleep(ENDLESS_SECONDS)
        await writer.drain()
        return False
