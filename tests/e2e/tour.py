#!/usr/bin/env python3
"""Do what documents show, and see that it comes out as shown: tour.py DOCUMENT...

Every block that is indented by a tab and begins with "$ " is a part of the tour.  Its commands, the
lines that begin with "$ ", are run in their order by bash on a terminal of 100 columns, without
"sudo" if we are root.  A block that begins with "# NAME.yaml" is the contents of that file, which is
written to the current directory.  What stands below a command is what must be on the screen in the
end:

  - a line "..." stands for any lines, also for none;
  - runs of spaces are equal to each other, and spaces at the end of a line do not count;
  - these stand for any of their kind: IPv4 addresses and ports behind them, sizes (314Mi, 1.5 GiB),
    durations (5s, 1m30s, 0.4s), points in time (2026-01-31T12:00:00Z), what Kubernetes adds to the
    name of a Deployment for those of its pods (web-5d9c7b8f6d-x2x9q), and numbers that are a cell of
    a table, with two spaces or more before them;
  - all else, such as other numbers, is compared as it is.

Where nothing stands below a command, it may print what it likes.  Every command must exit with 0;
one that must not says so itself: "manykube status; echo $?".
"""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

COLUMNS = 100
SECONDS = 240 * int(os.environ.get("E2E_PATIENCE", "1"))  # for one command

# What may differ: what must stand before it, and what it is.
KINDS = {
    "address": (r"\b", r"\d+\.\d+\.\d+\.\d+(?::\d+)?\b"),
    "time": (r"\b", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\b"),
    "pod": (r"(?<=[a-z0-9])", r"-[b-df-hj-np-tv-z0-9]{6,10}-[b-df-hj-np-tv-z0-9]{5}\b"),
    "size": (r"\b", r"\d+(?:\.\d+)? ?[KMGT]i?B?\b"),
    "duration": (r"\b", r"(?:\d+[dhm])*\d+(?:\.\d+)?[dhms]\b"),
    "cell": (r"(?<=  )", r"\d+(?!\S)"),
    "spaces": ("", " +"),
}
VOLATILE = "|".join(f"{before}(?P<{name}>{kind})" for name, (before, kind) in KINDS.items())


def read_tour(path):
    """The parts of the document, each with its line, a command or the name of a file, and what stands
    below it."""
    tour = []
    in_block = False
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines, 1):
        begin = re.fullmatch(r"\t(?:\$ (?P<command>.+)|# (?P<file>[\w-]+\.yaml))", line)
        if begin:
            in_block = True
            tour.append((number, begin["command"], begin["file"], []))
        elif in_block and line.startswith("\t"):
            tour[-1][-1].append(line[1:])
        elif in_block and not line and lines[number:] and lines[number].startswith("\t"):
            tour[-1][-1].append("")  # an empty line within the block
        else:
            in_block = False
    for _, _, _, shown in tour:
        while shown and not shown[-1]:
            shown.pop()
    if not tour:
        sys.exit(f"there is no tour in {path}")
    return tour


def pattern_of_line(line):
    pattern = ""
    at = 0
    for match in re.finditer(VOLATILE, line):
        pattern += re.escape(line[at : match.start()]) + KINDS[match.lastgroup][1]
        at = match.end()
    return pattern + re.escape(line[at:]) + r"\n"


def matches(shown, screen):
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else pattern_of_line(line.rstrip()) for line in shown
    )
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in screen))


def screen_of(text):
    """The lines that a terminal shows in the end: progress goes up some lines and clears from there."""
    lines = [""]
    for part in re.split(r"(\r\x1b\[\d+A\x1b\[J|\n)", text.replace("\r\n", "\n")):
        if part == "\n":
            lines.append("")
        elif part.startswith("\r\x1b"):
            lines[-1 - int(part[3:-4]) :] = [""]
        else:
            lines[-1] += part
    return lines if lines[-1] else lines[:-1]


def run(command):
    """The exit status of a command, and what it printed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "-c", command])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    text = b""
    deadline = time.monotonic() + SECONDS
    while True:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                some = os.read(terminal, 65536)
            except OSError:  # nobody has the terminal any more
                some = b""
            text += some
            if some:
                continue
        # What the command left running may still have the terminal.
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), text.decode(errors="replace")
        if time.monotonic() > deadline:
            sys.exit(f"'{command}' takes more than {SECONDS} s; it printed:\n{text.decode()}")


def run_part(where, command, shown):
    print(f"{where}: $ {command}", flush=True)
    if os.getuid() == 0:
        command = re.sub(r"\bsudo ", "", command)
    begun = time.monotonic()
    status, text = run(command)
    screen = screen_of(text)
    print(*screen, f"({time.monotonic() - begun:.1f} s)", sep="\n", flush=True)
    if status != 0:
        sys.exit(f"{where}: it ended with {status}")
    if shown and not matches(shown, screen):
        sys.exit(f"{where}: that is not what is shown:\n" + "\n".join(shown))


def main():
    for path in sys.argv[1:]:
        for number, command, file, lines in read_tour(path):
            if command:
                run_part(f"{path}, line {number}", command, lines)
            else:
                with open(file, "w", encoding="utf-8") as out:
                    out.writelines(line + "\n" for line in lines)


main()
