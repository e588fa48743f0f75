#!/usr/bin/env python3
"""Print the lines of src/payload/sums.c for the versions in src/payload/component.c.

Go checks every module against its checksum database on the way, so this needs a network.
"""

import json
import os
import re
import subprocess
import sys

ETCD = ("api", "client/pkg", "client", "etcdctl", "etcdutl", "pkg", "server")
# Modules that Kubernetes' go.mod replaces, but that none of its programs needs.
UNUSED = re.compile("code-generator|sample-")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GO")},
    "GOTOOLCHAIN": "local",
    "GOENV": "off",
}


def download(module, version, lines):
    command = ["go", "mod", "download", "-json", f"{module}@{version}"]
    answer = json.loads(subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE).stdout)
    if "Sum" not in answer:
        sys.exit(f"{module} {version}: {answer.get('Error')}")
    lines.add(f"{module} {version} {answer['Sum']}")
    lines.add(f"{module} {version}/go.mod {answer['GoModSum']}")
    return answer["Dir"]


def main():
    source = open("src/payload/component.c", encoding="utf-8").read()
    modules = dict(re.findall(r"\t\[(COMPONENT_\w+)\] = \{.*?\.module = \"([^\"]+)\"", source, re.S))
    lines = set()
    for component, version in re.findall(r"\[(COMPONENT_\w+)\] = \"(v[^\"]+)\"", source):
        dir = download(modules[component], version, lines)
        if component == "COMPONENT_ETCD":
            for name in ETCD:
                download(f"go.etcd.io/etcd/{name}/v3", version, lines)
        if component == "COMPONENT_KUBERNETES":
            text = open(f"{dir}/go.mod", encoding="utf-8").read()
            for name in re.findall(r"^\s*(\S+) => \./staging/", text, re.M):
                if not UNUSED.search(name):
                    download(name, "v0." + version.split(".", 1)[1], lines)
    for line in sorted(lines):
        print(f'\t"{line}",')


main()
