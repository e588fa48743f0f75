#!/usr/bin/env python3
"""Write to a cluster's API without pause, and see afterwards that no acknowledged write is lost.

    writer.py write KUBECONFIG LOG    until SIGTERM; a line "SECONDS NUMBER" per acknowledged write
    writer.py check KUBECONFIG LOG    prints how many were acknowledged, how many of those are lost,
                                      and the longest time in seconds between two of them
"""

import base64
import http.client
import json
import os
import re
import signal
import ssl
import sys
import tempfile
import time

PATH = "/api/v1/namespaces/default/configmaps"


def read_config(path):
    """The address of the API, and a TLS context with the administrator's certificate."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    port = int(re.search(r"server: \"?https://127\.0\.0\.1:(\d+)", text).group(1))
    context = ssl.create_default_context()
    context.check_hostname = True
    pems = {}
    for key in ("certificate-authority", "client-certificate", "client-key"):
        data = re.search(rf"{key}-data: \"?([A-Za-z0-9+/=]+)", text)
        if data:
            pems[key] = base64.b64decode(data.group(1))
        else:
            name = re.search(rf"{key}: \"?([^\"\n]+)", text).group(1)
            with open(name, "rb") as file:
                pems[key] = file.read()
    context.load_verify_locations(cadata=pems["certificate-authority"].decode())
    with tempfile.NamedTemporaryFile() as both:
        both.write(pems["client-certificate"] + b"\n" + pems["client-key"])
        both.flush()
        context.load_cert_chain(both.name)
    return port, context


class Client:
    """One connection, made anew whenever something went wrong with it."""

    def __init__(self, path):
        self.port, self.context = read_config(path)
        self.connection = None

    def request(self, method, path, body=None):
        """Status and answer; None if there was no answer."""
        try:
            if not self.connection:
                self.connection = http.client.HTTPSConnection(
                    "127.0.0.1", self.port, context=self.context, timeout=3)
            self.connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            if self.connection:
                self.connection.close()
            self.connection = None
            return None


def write(path, log_path):
    """Make one object after another; what is not acknowledged is not made again."""
    client = Client(path)
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    number = 0
    with open(log_path, "w", encoding="utf-8", buffering=1) as log:
        while not ended:
            number += 1
            body = json.dumps({"metadata": {"name": f"write-{number}"}})
            answer = client.request("POST", PATH, body)
            if answer and answer[0] == 201:
                log.write(f"{time.monotonic():.3f} {number}\n")
            time.sleep(0.05)


def check(path, log_path):
    """Compare what was acknowledged with what is there."""
    client = Client(path)
    with open(log_path, encoding="utf-8") as log:
        lines = [line.split() for line in log]
    answer = None
    for _ in range(20):
        answer = client.request("GET", PATH)
        if answer and answer[0] == 200:
            break
        time.sleep(0.5)
    there = {item["metadata"]["name"] for item in json.loads(answer[1])["items"]}
    lost = [number for _, number in lines if f"write-{number}" not in there]
    times = [float(second) for second, _ in lines]
    stall = max((b - a for a, b in zip(times, times[1:])), default=0)
    print(f"{len(lines)} acknowledged, {len(lost)} lost, stalled {stall:.1f} s")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("write", "check") or not os.path.exists(sys.argv[2]):
        sys.exit(__doc__)
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2], sys.argv[3])
