#!/usr/bin/env python3
"""Push the one image of an OCI archive to a registry without TLS, through its HTTP API.

push.py ADDRESS NAME:TAG ARCHIVE
"""

import http.client
import json
import sys
import tarfile
from urllib.parse import urlsplit


def read_archive(path):
    """The archive's files by name, and the descriptor of its first manifest."""
    with tarfile.open(path) as archive:
        files = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
    return files, json.loads(files["index.json"])["manifests"][0]


def request(address, verb, path, body=b"", kind="application/octet-stream"):
    """Send a request; its answer's status, and its header Location."""
    connection = http.client.HTTPConnection(address, timeout=30)
    connection.request(verb, path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("Location", "")


def need(status, wanted, what):
    if status != wanted:
        sys.exit(f"{what}: the status is {status}, not {wanted}")


def push_blob(address, name, digest, data):
    status, _ = request(address, "HEAD", f"/v2/{name}/blobs/{digest}")
    if status == 200:
        return
    status, location = request(address, "POST", f"/v2/{name}/blobs/uploads/")
    need(status, 202, "beginning an upload")
    parts = urlsplit(location)
    path = f"{parts.path}?{parts.query}&digest={digest}"
    status, _ = request(address, "PUT", path, data)
    need(status, 201, f"uploading {digest}")


def main():
    address, image, archive = sys.argv[1:]
    name, tag = image.split(":")
    files, descriptor = read_archive(archive)
    text = files["blobs/" + descriptor["digest"].replace(":", "/")]
    manifest = json.loads(text)
    for blob in [manifest["config"], *manifest["layers"]]:
        digest = blob["digest"]
        push_blob(address, name, digest, files["blobs/" + digest.replace(":", "/")])
    status, _ = request(address, "PUT", f"/v2/{name}/manifests/{tag}", text, descriptor["mediaType"])
    need(status, 201, "pushing the manifest")


main()
