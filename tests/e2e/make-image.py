#!/usr/bin/env python3
"""Make an image archive as 'docker save' writes it: make-image.py NAME FILE LINE...

Two layers: the busybox of this host, which is static, and /data/text with the lines. With
MEGABYTES=N in the environment, the lower layers have so much random data besides.
"""

import hashlib
import io
import json
import os
import shutil
import sys
import tarfile


def layer(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, mode, data in files:
            info = tarfile.TarInfo(name)
            info.mode = mode
            if isinstance(data, str):
                info.type, info.linkname = tarfile.SYMTYPE, data
                tar.addfile(info)
            elif data is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            else:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def main():
    name, path, lines = sys.argv[1], sys.argv[2], sys.argv[3:]
    busybox = open(shutil.which("busybox"), "rb").read()
    programs = [("bin/" + program, 0o777, "busybox") for program in ("sh", "cat", "sleep", "ls")]
    layers = [layer([("bin", 0o755, None), ("bin/busybox", 0o755, busybox)] + programs)]
    for number in range(3 if "MEGABYTES" in os.environ else 0):
        data = os.urandom(int(os.environ["MEGABYTES"]) * 1000000 // 3)
        layers.append(layer([("big", 0o755, None), (f"big/{number}", 0o644, data)]))
    text = "".join(line + "\n" for line in lines).encode()
    layers.append(layer([("data", 0o755, None), ("data/text", 0o644, text)]))
    digests = [hashlib.sha256(data).hexdigest() for data in layers]
    config = json.dumps({
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine], "os": "linux",
        "config": {"Cmd": ["/bin/sh"], "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest for digest in digests]},
    }).encode()
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = json.dumps([{"Config": config_name, "RepoTags": [name],
                            "Layers": [digest + "/layer.tar" for digest in digests]}]).encode()
    members = [(digest + "/layer.tar", data) for digest, data in zip(digests, layers)]
    with tarfile.open(path, "w") as tar:
        for member, data in members + [(config_name, config), ("manifest.json", manifest)]:
            info = tarfile.TarInfo(member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


main()
