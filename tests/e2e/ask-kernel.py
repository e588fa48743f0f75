#!/usr/bin/env python3
"""Make system calls that a node has no use for; print a line of "NAME ERRNO" for each."""
import ctypes
import errno
import fcntl
import os
import platform
import socket

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"init_module": 175, "kexec_load": 246, "swapoff": 168, "acct": 163, "settimeofday": 164,
               "open_by_handle_at": 304, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425,
               "bpf": 321, "syslog": 103, "keyctl": 250, "add_key": 248},
    "aarch64": {"init_module": 105, "kexec_load": 104, "swapoff": 225, "acct": 89, "settimeofday": 170,
                "open_by_handle_at": 265, "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425,
                "bpf": 280, "syslog": 116, "keyctl": 219, "add_key": 217},
}
TIOCSTI = 0x5412
# What would succeed or fail otherwise without the filter: keyctl(KEYCTL_GET_KEYRING_ID, session),
# userfaultfd(UFFD_USER_MODE_ONLY), syslog(SYSLOG_ACTION_SIZE_BUFFER).
ARGUMENTS = {"keyctl": (0, -3, 0), "userfaultfd": (1,), "syslog": (10,)}


def show(name, number):
    print(name, errno.errorcode.get(number, number) if number else "OK")


for name, number in NUMBERS[platform.machine()].items():
    ctypes.set_errno(0)
    failed = libc.syscall(number, *ARGUMENTS.get(name, (0, 0, 0, 0, 0))) < 0
    show(name, ctypes.get_errno() if failed else 0)
for name, family in (("vsock", 40), ("alg", 38), ("key", 15), ("packet", 17), ("inet", 2)):
    try:
        socket.socket(family, socket.SOCK_RAW if name in ("key", "packet") else
                      socket.SOCK_SEQPACKET if name == "alg" else socket.SOCK_STREAM).close()
        show(name, 0)
    except OSError as problem:
        show(name, problem.errno)
try:
    fcntl.ioctl(os.openpty()[1], TIOCSTI, b"x")
    show("tiocsti", 0)
except OSError as problem:
    show("tiocsti", problem.errno)
