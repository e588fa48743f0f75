#!/usr/bin/env python3
"""Fail if a message suggests a command in a way that src/base/advice.h does not allow: it names its
cluster by hand, is not in quotes, is printed without its cluster, or destroys something.

With --list, print all commands in quotes instead, for a test to see that they exist."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRING = r'"(?:[^"\\\n]|\\.)*"'
ON_CLUSTER = (
    r"(?:apply|autostart|config view|cp|delete|ip|kubectl|logs|node|pause|ssh|start|status|stop"
    r"|unpause|update-context|upgrade|worker)\b"
)
QUOTED = re.compile(r"'(?:sudo )?manykube [a-z][^']*'")
RULES = [
    # Another cluster than the command is about, or a command for another program.
    ("leave -p to advice_complete()",
     lambda text, call: any("-p %s" in command for command in QUOTED.findall(text)),
     ["home/autostart.c", "record/profile.c", "cmd/profile-import.c"]),
    ("put the command into single quotes",
     lambda text, call: call != "examples"
     and re.search(r"[a-z:,;] (?:sudo )?manykube " + ON_CLUSTER, QUOTED.sub("", text)),
     ["describe/file-schema.c"]),
    # Documentation is about no cluster.
    ("print it with say_done() or advice_complete()",
     lambda text, call: call in ("printf", "fprintf", "puts", "fputs")
     and re.search("'(?:sudo )?manykube " + ON_CLUSTER, text),
     ["cmd/config-explain.c", "cmd/config-init.c", "cmd/config-view.c", "cmd/reference.c",
      "cmd/reference-file.c"]),
    # What the user has begun or asks for; members of etcd that are lost for good; and nodes that
    # have never joined.
    ("advice never destroys",
     lambda text, call: re.search(r"'manykube (?:delete|(?:node|worker) (?:delete|recover))", text),
     ["plan/check.c", "look/health.c", "kubeadm/members.c", "plan/plan.c", "cluster/remove-node.c",
      "cluster/start-lost.c", "cmd/node-delete.c", "cmd/status-print.c", "node/trouble.c",
      "cmd/reference.c"]),
]


def messages(source):
    """The strings of SOURCE, joined where they stand side by side, each with its line and with the
    name of the function or field that it is for."""
    code = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), source, flags=re.S)
    for match in re.finditer(rf"{STRING}(?:\s*{STRING})*", code):
        text = "".join(part[1:-1] for part in re.findall(STRING, match[0]))
        before = re.findall(r"(\w+)(?:\(|\s*=\s*)", code[: match.start()].rpartition(";")[2])
        yield code.count("\n", 0, match.start()) + 1, before[-1] if before else "", text


def main():
    bad = False
    for path in sorted(ROOT.glob("src/**/*.[ch]")):
        name = str(path.relative_to(ROOT / "src"))
        for line, call, text in messages(path.read_text()):
            if sys.argv[1:] == ["--list"]:
                print("\n".join(QUOTED.findall(text)), end="\n" if QUOTED.search(text) else "")
                continue
            for rule, breaks, allowed in RULES:
                if breaks(text, call) and name not in allowed:
                    print(f"src/{name}:{line}: {rule}: {text}", file=sys.stderr)
                    bad = True
    sys.exit(bad)


main()
