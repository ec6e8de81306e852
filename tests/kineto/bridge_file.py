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
wanted = [serial for serial in range(1, records + 1) if serial % 64 not in (5, 6, 7, 8)]
assert sorted(event["args"]["correlation"] for event in slices) == wanted, "not every record is there once"
assert all(event["dur"] >= 0 and (event["dur"] == 0 or event["args"]["correlation"] % 64 != 9) for event in slices)
for event in slices:
    serial, name = event["args"]["correlation"], event["name"]
    if serial % 16 == 0:
        assert name == "", name
    else:
        assert name == "unknown" or name.startswith(f"k{serial} "), (serial, name)
    assert event["args"].get("serial", serial) == serial, event
    assert event["args"]["External id"] == 0, event
# A row for each stream of each device, of no process, with its name.
vendor = "wor'st/?"
rows, processes = {}, {}
for event in slices:
    device, stream = event["args"]["device"], event["args"]["stream"]
    assert 1 << 22 < event["pid"] < 1 << 31 and 0 <= event["tid"] < 1 << 31, event
    assert rows.setdefault((event["pid"], event["tid"]), (device, stream)) == (device, stream), event
    assert processes.setdefault(event["pid"], device) == device, event
    assert event["tid"] == stream or stream >= 1 << 30, event
    assert event["pid"] % 256 == device or not 0 <= device < 128, event
assert len(set(rows.values())) == len(rows) == 13 * 10, "not one row for each stream"
assert len(set(processes.values())) == len(processes) == 13, "not one process for each device"
named = {event["name"]: {} for event in events if event["ph"] == "M"}
for event in events:
    if event["ph"] == "M":
        key = event["pid"] if event["name"] == "process_name" else (event["pid"], event["tid"])
        assert key not in named[event["name"]], event
        named[event["name"]][key] = event["args"]["name"]
assert named["thread_name"] == {row: f"{vendor} stream {stream}" for row, (_, stream) in rows.items()}
wanted = {process: f"{vendor} device {device}" if device >= 0 else f"{vendor} no device" for process, device in processes.items()}
assert named["process_name"] == wanted, (named["process_name"], wanted)
(properties,) = (event["args"] for event in events if event["ph"] == "properties")
assert [device["id"] for device in properties] == list(range(20)), properties
for device in properties:
    number = device["id"]
    assert device["pid"] == (1 << 24) + number and processes.get(device["pid"], number) == number, device
    assert device["vendor"] == vendor and device.get("name") == ("de'vi/ce ?" if number % 2 == 0 else None), device
    assert device.get("totalGlobalMem") == ((1 << 64) - 1 if number % 3 == 0 else None), device
    assert device.get("numSms", 0) == number and "warpSize" not in device, device
for text in texts(events):
    text.encode("utf-8")  # no halves of surrogate pairs
    assert not any(c < " " or c in "\x7f\"\\" for c in text), repr(text)
# Texts survive for the most part: 6/7 * 8/9 of the metadata is JSON, and most names are printable.
assert sum("serial" in event["args"] for event in slices) > records / 2
assert sum(event["name"].startswith("k") for event in slices) > records / 4
