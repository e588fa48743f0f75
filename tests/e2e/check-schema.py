#!/usr/bin/env python3
"""Check JSON on stdin against SCHEMA: check-schema.py [--lines] SCHEMA; with --lines every line."""

import json
import sys

import jsonschema


def check(validator, text):
    for error in validator.iter_errors(json.loads(text)):
        where = "/".join(map(str, error.absolute_path))
        print(f"{where or '(the whole)'}: {error.message}", file=sys.stderr)
        yield error


def main():
    *options, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.FormatChecker()
    )
    text = sys.stdin.read()
    documents = text.splitlines() if "--lines" in options else [text]
    if not documents:
        sys.exit("there is nothing to check")
    errors = [error for document in documents for error in check(validator, document)]
    sys.exit(1 if errors else 0)


main()
