#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packets.py LOG: notes every packet on loopback that opens a TCP connection, and every other one that is
no TCP. What no server saw is seen here."""
import ctypes
import ipaddress
import socket
import struct
import sys

from log import Log, text

ETH_P_ALL = 3
SO_ATTACH_FILTER, SO_RCVBUFFORCE = 26, 33
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23
NAMES = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp6"}
LOAD, LOAD_INDEXED, LOAD_HEADER, MASK, SAME, RETURN = 0x30, 0x50, 0xb1, 0x54, 0x15, 0x06

# (code, to skip if the same, to skip if not, value): all but TCP packets without SYN or with ACK.
PROGRAM = [
    (LOAD, 0, 0, 0), (MASK, 0, 0, 0xf0),
    (SAME, 0, 6, 0x40),
    (LOAD, 0, 0, 9), (SAME, 0, 10, 6),  # IPv4
    (LOAD_HEADER, 0, 0, 0), (LOAD_INDEXED, 0, 0, 13), (MASK, 0, 0, 0x12), (SAME, 6, 7, 0x02),
    (SAME, 0, 6, 0x60),
    (LOAD, 0, 0, 6), (SAME, 0, 3, 6),  # IPv6
    (LOAD, 0, 0, 53), (MASK, 0, 0, 0x12), (SAME, 0, 1, 0x02),
    (RETURN, 0, 0, 0xffff), (RETURN, 0, 0, 0),
]


def attach(sock):
    kept = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in PROGRAM))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                    struct.pack("HL", len(PROGRAM), ctypes.addressof(kept)))


def read(packet):
    """(protocol, source, target, payload) of an IP packet."""
    if packet[0] >> 4 == 4:
        header, protocol = (packet[0] & 15) * 4, packet[9]
        ends = packet[12:16], packet[16:20]
    else:
        header, protocol = 40, packet[6]
        ends = packet[8:24], packet[24:40]
    source, target = (str(ipaddress.ip_address(end)) for end in ends)
    ports = (None, None)
    if protocol in (6, 17):
        ports = struct.unpack_from("!HH", packet, header)
    return NAMES.get(protocol, str(protocol)), (source, ports[0]), (target, ports[1]), packet[header + 8:]


def main():
    log = Log(sys.argv[1])
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    attach(sock)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
    print("ready", flush=True)
    while True:
        protocol, source, target, payload = read(sock.recv(65536))
        more = {"data": text(payload, 64)} if protocol == "udp" else {}
        log.say("packet", protocol=protocol, source=source, address=target[0], port=target[1], **more)


main()
