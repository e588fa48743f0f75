#!/usr/bin/env python3
"""Make an image of three layers in a store: make-store.py STORE NAME BUSYBOX [MEGABYTES].

It prints the list that tests/tools/node-images installs.  The second layer changes a file of the
first and hides another, the third hides the contents of a directory, as whiteouts do in archives.
The archive for an import by the book is written to STORE.tar.
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

store, name, busybox = sys.argv[1:4]
megabytes = int(sys.argv[4]) if len(sys.argv) > 4 else 0
OCI = "application/vnd.oci.image."


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def put(data, kind):
    path = f"{store}/blobs/{digest(data)[7:]}"
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return {"mediaType": OCI + kind, "digest": digest(data), "size": len(data)}


def unpack(layer, entries):
    """Lay ENTRIES out in the directory of the layer as overlayfs wants them."""
    root = f"{store}/layers/{layer[7:]}"
    os.makedirs(root, mode=0o755, exist_ok=True)
    for path, data, mode in entries:
        where, base = os.path.split(f"{root}/{path}")
        if base == ".wh..wh..opq":
            os.setxattr(where, "user.overlay.opaque", b"y")
        elif base.startswith(".wh."):
            if not os.path.lexists(f"{where}/{base[4:]}"):
                os.mknod(f"{where}/{base[4:]}", 0o20000, 0)
        elif data is None:
            os.makedirs(f"{root}/{path}", exist_ok=True)
            os.chmod(f"{root}/{path}", mode)
        else:
            with open(f"{root}/{path}", "wb") as file:
                file.write(data)
            os.chmod(f"{root}/{path}", mode)
            if path.startswith("home/"):
                os.chown(f"{root}/{path}", 1000, 1000)


def pack(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data, mode in entries:
            info = tarfile.TarInfo(path)
            info.mode = mode
            info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            info.size = len(data or b"")
            info.uid = info.gid = 1000 if path.startswith("home/") and data is not None else 0
            archive.addfile(info, io.BytesIO(data or b""))
    return out.getvalue()


with open(busybox, "rb") as file:
    program = file.read()
filler = [(f"data/fill-{i}", os.urandom(1 << 20), 0o644) for i in range(megabytes)]
layers = [
    [("bin", None, 0o755), ("bin/sh", program, 0o755), ("bin/busybox", program, 0o4755), ("etc", None, 0o755),
     ("etc/first", b"one\n", 0o644), ("etc/gone", b"gone\n", 0o644), ("home", None, 0o755),
     ("home/mine", b"mine\n", 0o600), ("opt", None, 0o755), ("opt/below", b"below\n", 0o644),
     ("data", None, 0o755)] + filler,
    [("etc", None, 0o755), ("etc/first", b"two\n", 0o644), ("etc/.wh.gone", b"", 0o644)],
    [("opt", None, 0o755), ("opt/.wh..wh..opq", b"", 0o644), ("opt/above", b"above\n", 0o644)],
]
described, chain = [], None
for entries in layers:
    data = pack(entries)
    diff = digest(data)
    chain = diff if chain is None else digest(f"{chain} {diff}".encode())
    unpack(diff, entries)
    blob = put(gzip.compress(data, 1, mtime=0), "layer.v1.tar+gzip")
    described.append(dict(blob, diffId=diff, chainId=chain))
config = put(json.dumps({
    "architecture": "amd64", "os": "linux", "config": {"Cmd": ["/bin/sh"], "Env": ["PATH=/bin"]},
    "rootfs": {"type": "layers", "diff_ids": [layer["diffId"] for layer in described]},
}).encode(), "config.v1+json")
plain = [{key: layer[key] for key in ("mediaType", "digest", "size")} for layer in described]
manifest = put(json.dumps({
    "schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": config, "layers": plain,
}).encode(), "manifest.v1+json")
index = {"schemaVersion": 2, "manifests": [dict(manifest, annotations={"io.containerd.image.name": name + "-book"})]}
with tarfile.open(f"{store}.tar", "w") as archive:
    for path, data in (("oci-layout", b'{"imageLayoutVersion":"1.0.0"}'), ("index.json", json.dumps(index).encode())):
        info = tarfile.TarInfo(path)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    for blob in [manifest, config] + plain:
        archive.add(f"{store}/blobs/{blob['digest'][7:]}", f"blobs/sha256/{blob['digest'][7:]}")
json.dump([{"names": [name], "manifest": manifest, "config": config, "layers": described}], sys.stdout)
