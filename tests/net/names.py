# SPDX-License-Identifier: Apache-2.0
"""The lab's DNS server, UDP and TCP. Logs every question."""
import asyncio
import ipaddress
import struct

from log import text

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "NULL": 10, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SVCB": 64,
         "HTTPS": 65, "ANY": 255}
NAMES = {number: name for name, number in TYPES.items()}
SERVFAIL, NXDOMAIN, FORMERR = 2, 3, 1
UDP_BYTES = 1232
MANY = 120


def read_zone(path):
    zone = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, ttl, kind, *values = line.split()
                zone.setdefault(name, []).append((int(ttl), kind, values))
    return zone


def pack_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label) + b"\0"


def read_question(query):
    """(name, type, end of the question); ValueError for what is no question."""
    if len(query) < 12 or query[2] & 0x80 or struct.unpack_from("!H", query, 4)[0] != 1:
        raise ValueError("no question")
    labels, at = [], 12
    while at < len(query) and query[at]:
        length = query[at]
        if length > 63 or at + 1 + length > len(query):
            raise ValueError("a bad label")
        labels.append(text(query[at + 1:at + 1 + length]))
        at += 1 + length
    if at + 5 > len(query):
        raise ValueError("cut short")
    return ".".join(labels).lower(), struct.unpack_from("!H", query, at + 1)[0], at + 5


class Zone:
    """Answers from the table."""

    def __init__(self, path, log):
        self.names, self.log, self.turns = read_zone(path), log, {}

    def records(self, name, kind):
        """[(owner, ttl, type, data)], following aliases."""
        found = []
        for ttl, has, values in self.names.get(name, []):
            if has == "CNAME":
                found.append((name, ttl, "CNAME", pack_name(values[0])))
                return found + self.records(values[0], kind)
            if has == "TURN" and kind == "A":
                turn = self.turns[name] = self.turns.get(name, -1) + 1
                found.append((name, ttl, "A", packed(values[turn % len(values)])))
            elif has == "MANY" and kind == "A":
                first = ipaddress.ip_address(values[0])
                found += [(name, ttl, "A", (first + i).packed) for i in range(MANY)]
            elif has == kind:
                found += [(name, ttl, kind, record_data(kind, value)) for value in values]
        return found

    def answer(self, query, protocol, peer):
        """The bytes of an answer, or None for silence."""
        try:
            name, number, end = read_question(query)
        except ValueError:
            self.log.say("dns", protocol=protocol, name=None, data=text(query, 600), source=peer)
            return query[:2] + struct.pack("!HHHHH", 0x8180 | FORMERR, 0, 0, 0, 0)
        kind = NAMES.get(number, str(number))
        self.log.say("dns", protocol=protocol, name=name, type=kind, source=peer)
        ways = {has for _, has, _ in self.names.get(name, [])}
        if "SILENT" in ways:
            return None
        code = SERVFAIL if "FAIL" in ways else 0 if ways else NXDOMAIN
        records = self.records(name, kind) if code == 0 else []
        body = b"".join(pack_name(owner) + struct.pack("!HHIH", TYPES[has], 1, ttl, len(data)) + data
                        for owner, ttl, has, data in records)
        flags, count = 0x8180 | code, len(records)
        if protocol == "udp" and end + len(body) > UDP_BYTES:
            flags, count, body = flags | 0x200, 0, b""
        return query[:2] + struct.pack("!HHHHH", flags, 1, count, 0, 0) + query[12:end] + body


def packed(address):
    return ipaddress.ip_address(address).packed


def record_data(kind, value):
    if kind in ("A", "AAAA"):
        return packed(value)
    if kind == "TXT":
        return bytes([len(value)]) + value.encode()
    if kind == "MX":
        return struct.pack("!H", 10) + pack_name(value)
    alpn = bytes([len(value)]) + value.encode()  # HTTPS: priority 1, the name itself, what it speaks
    return struct.pack("!H", 1) + b"\0" + struct.pack("!HH", 1, len(alpn)) + alpn


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, zone):
        self.zone, self.transport = zone, None

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        answer = self.zone.answer(data, "udp", addr[0])
        if answer:
            self.transport.sendto(answer, addr)


async def stream(zone, reader, writer):
    try:
        while True:
            length = struct.unpack("!H", await reader.readexactly(2))[0]
            query = await reader.readexactly(length)
            answer = zone.answer(query, "tcp", writer.get_extra_info("peername")[0])
            if answer:
                writer.write(struct.pack("!H", len(answer)) + answer)
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()
