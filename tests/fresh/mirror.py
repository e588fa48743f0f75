#!/usr/bin/env python3
"""A mirror of the official releases, made of a payload that is in the cache.

	mirror.py make PAYLOAD DIRECTORY        lay out the files of a release, with checksums
	mirror.py serve DIRECTORY PORT SECONDS  serve them on 127.0.0.1, no faster than all of
	                                        them in SECONDS

The layout is that of --binary-mirror: the official addresses without https:// as paths.
"""

import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
import threading
import time

# What a component's release consists of, as its project publishes it: the path of the file, the
# path of its checksums, and the directory of the programs in it if it is an archive.
GITHUB = "github.com/{project}/releases/download/{version}/"
RELEASES = {
    "etcd": ("etcd-io/etcd", "etcd-{version}-linux-{arch}.tar.gz", "SHA256SUMS",
             "etcd-{version}-linux-{arch}/", ["etcd", "etcdctl", "etcdutl"]),
    "containerd": ("containerd/containerd", "containerd-static-{number}-linux-{arch}.tar.gz",
                   "{file}.sha256sum", "bin/", ["containerd", "ctr", "containerd-shim-runc-v2"]),
    "runc": ("opencontainers/runc", "runc.{arch}", "runc.sha256sum", None, ["runc"]),
    "cni-plugins": ("containernetworking/plugins", "cni-plugins-linux-{arch}-{version}.tgz",
                    "{file}.sha256", "./",
                    ["bridge", "ptp", "loopback", "host-local", "portmap", "bandwidth"]),
    "coredns": ("coredns/coredns", "coredns_{number}_linux_{arch}.tgz", "{file}.sha256", "",
                ["coredns"]),
}
KUBERNETES = ["kubeadm", "kubelet", "kubectl", "kube-apiserver", "kube-controller-manager",
              "kube-scheduler", "kube-proxy"]


def find_in_image(archive, program):
    """The content of PROGRAM in a layer of the OCI archive, or None."""
    with tarfile.open(archive) as image:
        for blob in image:
            if not blob.name.startswith("blobs/"):
                continue
            try:
                with tarfile.open(fileobj=image.extractfile(blob)) as layer:
                    for member in layer:
                        if member.isfile() and os.path.basename(member.name) == program:
                            return layer.extractfile(member).read()
            except tarfile.ReadError:
                pass  # a manifest or a configuration
    return None


def find_program(payload, program):
    """The content of PROGRAM, which the payload has in bin/, in cni/ or in an image; None if not."""
    for directory in ("bin", "cni"):
        path = os.path.join(payload, directory, program)
        if os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
    images = os.path.join(payload, "images")
    for archive in sorted(os.listdir(images)):
        content = find_in_image(os.path.join(images, archive), program)
        if content:
            return content
    return None


def put(directory, path, content):
    path = os.path.join(directory, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def pack(payload, inside, programs):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as archive:
        for program in programs:
            content = find_program(payload, program)
            if not content:
                continue  # released, but of no use to nodes
            member = tarfile.TarInfo(inside + program)
            member.size = len(content)
            member.mode = 0o755
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def make(payload, directory):
    with open(os.path.join(payload, "payload.json"), encoding="utf-8") as file:
        about = json.load(file)
    arch = about["arch"]
    for component in about["components"]:
        version = component["version"]
        if component["name"] == "kubernetes":
            for program in KUBERNETES:
                path = f"dl.k8s.io/release/{version}/bin/linux/{arch}/{program}"
                content = find_program(payload, program)
                put(directory, path, content)
                put(directory, path + ".sha256", hashlib.sha256(content).hexdigest().encode())
            continue
        if component["name"] not in RELEASES:
            continue  # released as an image only
        project, name, sums, inside, programs = RELEASES[component["name"]]
        words = {"project": project, "version": version, "number": version[1:], "arch": arch}
        words["file"] = name.format(**words)
        base = GITHUB.format(**words)
        if inside is None:
            content = find_program(payload, programs[0])
        else:
            content = pack(payload, inside.format(**words), programs)
        put(directory, base + words["file"], content)
        line = f"{hashlib.sha256(content).hexdigest()}  {words['file']}\n"
        put(directory, base + sums.format(**words), line.encode())


class Slow:
    """A limit on bytes per second for all transfers together."""

    def __init__(self, rate):
        self.rate = rate
        self.next = time.monotonic()
        self.lock = threading.Lock()

    def pass_on(self, count):
        with self.lock:
            self.next = max(self.next, time.monotonic()) + count / self.rate
            rest = self.next - time.monotonic()
        if rest > 0:
            time.sleep(rest)


def serve(directory, port, seconds):
    total = sum(os.path.getsize(os.path.join(path, name))
                for path, _, names in os.walk(directory) for name in names)
    limit = Slow(total / seconds)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=directory)

        def copyfile(self, source, outputfile):
            while chunk := source.read(1 << 20):
                outputfile.write(chunk)
                limit.pass_on(len(chunk))

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 4:
        make(sys.argv[2], sys.argv[3])
    elif sys.argv[1:2] == ["serve"] and len(sys.argv) == 5:
        serve(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    else:
        sys.exit(__doc__)
