"""bridge_file.py TRACE RECORDS: what came of worst_vendor's records in a file that is written as Kineto writes it."""
import json
import sys


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def texts(value):
    """All strings in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)


path, records = sys.argv[1], int(sys.argv[2])
with open(path, encoding="utf-8") as file:
    events = json.load(file, parse_constant=refuse)
slices = [event for event in events if event["ph"] == "X"]
assert sorted(event["args"]["correlation"] for event in slices) == list(range(1, records + 1)), "not every record is there once"
for event in slices:
    serial, name = event["args"]["correlation"], event["name"]
    if serial % 16 == 0:
        assert name == "", name
    else:
        assert name == "unknown" or name.startswith(f"k{serial} "), (serial, name)
    assert event["args"].get("serial", serial) == serial, event
    assert event["args"]["External id"] == 0, event
for text in texts(events):
    text.encode("utf-8")  # no halves of surrogate pairs
    assert not any(c < " " or c in "\x7f\"\\" for c in text), repr(text)
# Texts survive for the most part: 6/7 * 8/9 of the metadata is JSON, and most names are printable.
assert sum("serial" in event["args"] for event in slices) > records / 2
assert sum(event["name"].startswith("k") for event in slices) > records / 4
