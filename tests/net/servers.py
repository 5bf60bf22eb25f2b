#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""servers.py FOLDER ZONE [PORT]...: the lab's servers but for HTTP/2 and but for those of each PORT, on all
addresses there are. Says "ready".

TCP: 53 names · 80 8080 web · 443 web in TLS · 7 echo · 22 ssh · UDP: 53 names · 7 443 echo
"""
import asyncio
import os
import socket
import ssl
import sys

from log import Log, text
from names import Datagrams, Zone, stream
from web import HEAD_BYTES, Web

FIRST_BYTES_SECONDS = 30
DNS_ADDRESSES = ("127.0.0.1", "203.0.113.53")
ECHO_ADDRESSES = ("203.0.113.10", "2001:db8::10")


class Echo(asyncio.DatagramProtocol):
    def __init__(self):
        self.transport = None

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        self.transport.sendto(data, addr)


class Servers:
    def __init__(self, folder, zone, left):
        self.folder, self.left = folder, left
        self.log = Log(folder + "/log")
        self.zone = Zone(zone, self.log)
        self.web = Web(self.log, folder)
        self.tasks = set()

    def tls(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder + "/ca/server.pem", self.folder + "/ca/server.key")
        context.set_alpn_protocols(["http/1.1"])
        return context

    async def first_bytes(self, sock):
        """What the client says first; it stays in the socket."""
        loop = asyncio.get_running_loop()
        readable = loop.create_future()
        loop.add_reader(sock, lambda: readable.done() or readable.set_result(None))
        try:
            await asyncio.wait_for(readable, FIRST_BYTES_SECONDS)
            return sock.recv(4096, socket.MSG_PEEK)
        except (TimeoutError, asyncio.TimeoutError, OSError):
            return b""
        finally:
            loop.remove_reader(sock)

    async def connection(self, sock, serve, speaks_first=False, context=None):
        local = sock.getsockname()
        about = {"address": local[0].removeprefix("::ffff:"), "port": local[1], "peer": sock.getpeername()[:2]}
        self.log.say("accept", **about)
        if not speaks_first:
            data = await self.first_bytes(sock)
            self.log.say("bytes", **about, data=text(data))
            if not data:
                sock.close()
                return
        if context:
            context = self.tls()
            context.sni_callback = lambda _, name, __: self.note_sni(about, name)
        await serve(sock, about, context)

    def note_sni(self, about, name):
        about["sni"] = name
        self.log.say("sni", **about)

    async def listen(self, port, serve, **how):
        if port in self.left:
            return
        listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
        listener.setblocking(False)
        self.keep(self.accept(listener, serve, how))

    async def accept(self, listener, serve, how):
        while True:
            try:
                sock, _ = await asyncio.get_running_loop().sock_accept(listener)
                sock.setblocking(False)
                self.keep(self.connection(sock, serve, **how))
            except OSError:
                await asyncio.sleep(0.05)

    def keep(self, work):
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.ended)

    def ended(self, task):
        self.tasks.discard(task)
        if not task.cancelled() and task.exception() and not isinstance(task.exception(), OSError):
            task.print_stack(file=sys.stderr)

    async def streams(self, sock, context):
        reader = asyncio.StreamReader(limit=HEAD_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, sock, ssl=context)
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def serve_web(self, sock, about, context):
        reader, writer = await self.streams(sock, context)
        await self.web.serve(reader, writer, about)

    async def serve_echo(self, sock, about, context):
        reader, writer = await self.streams(sock, context)
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve_ssh(self, sock, _, __):
        """A server that speaks first: the real one where there is one, else its first line."""
        sock.setblocking(True)
        if os.path.exists("/usr/sbin/dropbear"):
            program = await asyncio.create_subprocess_exec(
                "/usr/sbin/dropbear", "-i", "-s", "-r", self.folder + "/ssh/host", stdin=sock, stdout=sock,
                stderr=asyncio.subprocess.DEVNULL)
            await program.wait()
        else:
            sock.sendall(b"SSH-2.0-lab\r\n")
        sock.close()

    async def serve_names(self, sock, _, __):
        reader, writer = await self.streams(sock, None)
        await stream(self.zone, reader, writer)

    async def start(self):
        loop = asyncio.get_running_loop()
        for address in DNS_ADDRESSES:
            await loop.create_datagram_endpoint(lambda: Datagrams(self.zone), local_addr=(address, 53))
        for port in (7, 443):
            for address in ECHO_ADDRESSES:
                await loop.create_datagram_endpoint(Echo, local_addr=(address, port))
        await self.listen(53, self.serve_names)
        await self.listen(80, self.serve_web)
        await self.listen(8080, self.serve_web)
        await self.listen(443, self.serve_web, context=True)
        await self.listen(7, self.serve_echo)
        await self.listen(22, self.serve_ssh, speaks_first=True)
        print("ready", flush=True)
        await asyncio.Event().wait()


asyncio.run(Servers(sys.argv[1], sys.argv[2], [int(port) for port in sys.argv[3:]]).start())
