#!/usr/bin/env python3
"""exports.py LIBRTL LEFT_OUT LIBRARY INCLUDE: each function that a HIP exports is wrapped by librtl.so or named in the file
LEFT_OUT, with the reason; none is both, and what is named is there in the releases for which it is named. INCLUDE is the
folder of this HIP's headers, which say what release it is.

A line of LEFT_OUT is a function and the releases that are known to have it, all where nothing is said: `6.4-` from 6.4 on,
`-5.2` up to 5.2. A comment is the reason for the lines below it, up to an empty line."""

import re
import subprocess
import sys

FUNCTIONS = 300  # fewer are no HIP, or nm's output was not understood
NO_END = (999, 0)


def exports(library):
    """The names of a library's functions; those of its versions are none."""
    command = ["nm", "-D", "--defined-only", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    words = (line.split() for line in lines)
    return {name.partition("@")[0] for _, kind, name in words if kind in "TWi"}


def release(include):
    """Major and minor number."""
    with open(f"{include}/hip/hip_version.h", encoding="utf-8") as header:
        text = header.read()
    return tuple(int(re.search(rf"HIP_VERSION_{part} +(\d+)", text)[1]) for part in ("MAJOR", "MINOR"))


def number(text, default):
    return tuple(int(part) for part in text.split(".")) if text else default


def left_out(path):
    """{function: (first release, last release)}, and the functions without a reason."""
    names, bare, reason = {}, [], False
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if not line or line.startswith("#"):
                reason = bool(line)
                continue
            name, _, releases = line.partition(" ")
            first, _, last = releases.partition("-")
            names[name] = (number(first, (0, 0)), number(last, NO_END))
            if not reason:
                bare.append(name)
    return names, bare


def main():
    ours, hip = exports(sys.argv[1]), exports(sys.argv[3])
    named, bare = left_out(sys.argv[2])
    this = release(sys.argv[4])
    due = {name for name, (first, last) in named.items() if first <= this <= last}
    found = {
        "is neither wrapped nor left out": hip - ours - set(named),
        "is wrapped and left out": hip & ours & set(named),
        f"is left out and HIP {this[0]}.{this[1]} does not have it": due - hip,
        "is left out for no reason": set(bare),
    }
    wrong = [f"{name} {what}" for what, names in found.items() for name in sorted(names)]
    if len(hip) < FUNCTIONS:
        wrong.append(f"{sys.argv[3]} exports {len(hip)} functions")
    print("\n".join(wrong) or f"HIP {this[0]}.{this[1]}: {len(hip & ours)} wrapped, {len(hip - ours)} left out")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
