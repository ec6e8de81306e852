#!/usr/bin/env python3
"""export_names.py CHROME CSV: the names of export_cases.c as readers of JSON and CSV see them."""
import csv
import json
import sys

raw = [b'a "quoted", parted name', b"two\r\nlines\tand \\ a tab", b"\x01\x1f\x7f", "na\u00efve \U0001f680".encode(), b"cut \xc3",
       b"\xff\xfe\xed\xa0\x80 wrong"]

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
for category in "user_annotation", "gpu_user_annotation":
    got = [name for _, name in sorted((event["ts"], event["name"]) for event in events if event.get("cat") == category)]
    assert got == [name.decode("utf-8", "replace") for name in raw], got
assert any(event["ph"] == "M" and event["args"].get("name") == "thread 71 " + raw[0].decode() for event in events)

with open(sys.argv[2], newline="", encoding="utf-8", errors="surrogateescape") as file:
    rows = list(csv.DictReader(file, strict=True))
assert [row["name"].encode("utf-8", "surrogateescape") for row in rows] == raw, rows
