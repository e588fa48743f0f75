#!/usr/bin/env python3
"""Send an IPv4 packet to a router in another's name: forge.py ROUTER PROTOCOL SOURCE TARGET [WORD WORD].

PROTOCOL is udp, with the ports of SOURCE and TARGET; reply: an answer to a ping that nobody sent,
which belongs to no connection; or too-big, about a packet of DNS between two further addresses.
ROUTER must be known to the kernel's ARP table.
"""
import socket
import struct
import sys


def packet(number, source, target, payload):
    addresses = socket.inet_aton(source) + socket.inet_aton(target)
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, number, 0) + addresses
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload


def icmp(kind, code, rest):
    payload = struct.pack("!BBH", kind, code, 0) + rest
    return payload[:2] + struct.pack("!H", checksum(payload)) + payload[4:]


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def neighbour(address):
    """The link that leads to ADDRESS, and its hardware address there."""
    for line in open("/proc/self/net/arp"):
        words = line.split()
        if words[0] == address and words[3] != "00:00:00:00:00:00":
            return words[5], bytes.fromhex(words[3].replace(":", ""))
    sys.exit(f"{address} is no neighbour")


router, protocol, source, target = sys.argv[1:5]
if protocol == "udp":
    ports = [int(port) for port in sys.argv[5:7]]
    number, payload = socket.IPPROTO_UDP, struct.pack("!HHHH", *ports, 14, 0) + b"forged"
elif protocol == "too-big":
    inner = packet(socket.IPPROTO_UDP, *sys.argv[5:7], struct.pack("!HHHH", 53, 45000, 1408, 0))
    number, payload = socket.IPPROTO_ICMP, icmp(3, 4, struct.pack("!HH", 0, 552) + inner)
else:
    number, payload = socket.IPPROTO_ICMP, icmp(0, 0, struct.pack("!HH", 1, 1) + b"forged")
link, hardware = neighbour(router)
packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
packets.sendto(packet(number, source, target, payload), (link, 0x0800, 0, 0, hardware))
