#!/usr/bin/env python3
"""Compare the report of `fail run` with what a watcher of its own saw: compare-report.py REPORT WATCH BEGIN

REPORT is the output of `manykube fail run -o json`, which began at BEGIN, milliseconds since 1970.
WATCH has a line per look at the cluster: "MILLISECONDS NODE=STATUS...", the status of the Ready
condition, or "MILLISECONDS silent" if the API did not answer.  Every time in one must be in the
other, within some seconds: both look only now and then.
"""

import json
import os
import sys

TOLERANCE = 4 * int(os.environ.get("E2E_PATIENCE", "1"))  # seconds


def read_watch(path, begin):
    """When each node was not Ready: {node: [[begin, end]]}, and when the API was silent."""
    nodes, silent = {}, []
    was_silent = False
    with open(path, encoding="utf-8") as file:
        for line in file:
            time, *words = line.split()
            at = (int(time) - begin) / 1000
            if words == ["silent"]:
                if not was_silent:
                    silent.append([at, None])
                was_silent = True
                continue
            if was_silent:
                silent[-1][1] = at
            was_silent = False
            for word in words:
                name, status = word.split("=")
                spans = nodes.setdefault(name, [])
                is_open = spans and spans[-1][1] is None
                if status != "True" and not is_open:
                    spans.append([at, None])
                elif status == "True" and is_open:
                    spans[-1][1] = at
    return nodes, silent


def near(one, other):
    return one is None and other is None or (
        one is not None and other is not None and abs(one - other) <= TOLERANCE
    )


def compare(what, reported, watched):
    print(f"{what}: reported {reported}, watched {watched}")
    if len(reported) != len(watched):
        sys.exit(f"{what}: {len(reported)} times in the report, {len(watched)} seen by the watcher")
    for one, other in zip(reported, watched):
        if not near(one[0], other[0]) or not near(one[1], other[1]):
            sys.exit(f"{what}: {one} in the report, {other} seen by the watcher")


def find_long(ones, others, here, there):
    """Gaps shorter than the interval of either are not seen by both."""
    for one in ones:
        is_long = one[1] is None or one[1] - one[0] > TOLERANCE
        if is_long and not any(near(one[0], o[0]) and near(one[1], o[1]) for o in others):
            sys.exit(f"API: {one} in {here} is not in {there}")


def main():
    report_path, watch_path, begin = sys.argv[1:]
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)
    nodes, silent = read_watch(watch_path, int(begin))
    if not nodes:
        sys.exit("the watcher has seen nothing")
    for name, spans in sorted(nodes.items()):
        reported = [[s["begin"], s["end"]] for s in report["notReady"] if s["node"] == name]
        compare(name, reported, spans)
    gaps = [[g["begin"], g["end"]] for g in report["api"]["gaps"]]
    print(f"API: reported {gaps}, watched {silent}")
    find_long(gaps, silent, "the report", "the watcher")
    find_long(silent, gaps, "the watcher", "the report")


main()
