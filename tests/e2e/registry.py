#!/usr/bin/env python3
"""A registry without TLS: serves the one image of an OCI archive under every name.

registry.py PORT ARCHIVE
"""

import http.server
import json
import sys
import tarfile


def read_archive(path):
    """The archive's files by name, and the digest of its first manifest."""
    with tarfile.open(path) as archive:
        files = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
    return files, json.loads(files["index.json"])["manifests"][0]


FILES, MANIFEST = read_archive(sys.argv[2])


class Registry(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        parts = self.path.split("?")[0].strip("/").split("/")
        kind, reference = parts[-2:] if len(parts) > 1 else ("", "")
        digest = MANIFEST["digest"]
        media = "application/octet-stream"
        if parts == ["v2"]:
            body = b"{}"
        elif kind == "manifests":
            if reference.startswith("sha256:"):
                digest = reference
            body = FILES.get("blobs/" + digest.replace(":", "/"))
            media = MANIFEST["mediaType"]
        elif kind == "blobs":
            digest = reference
            body = FILES.get("blobs/" + digest.replace(":", "/"))
        else:
            body = None
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.send_header("Content-Type", media)
        self.send_header("Docker-Content-Digest", digest)
        self.end_headers()
        if body and self.command == "GET":
            self.wfile.write(body)

    do_GET = answer
    do_HEAD = answer


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Registry).serve_forever()
