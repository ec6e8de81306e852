#!/usr/bin/env python3
"""names.py CLANG ENTRIES INCLUDE: the parameters of wrapped calls have the names that the installed HIP headers, in the
folder INCLUDE, give them, in their order: a trace shows arguments under these names. (Their types the compiler compares.)
The stream that a call is about is called `stream` in the table."""

import json
import re
import subprocess
import sys

HEADER = "#define __HIP_PLATFORM_AMD__ 1\n#include <hip/hip_runtime_api.h>\n"


def declared(clang, include):
    """Names of the parameters by function, as the headers have them."""
    command = [clang, "-x", "c", "-std=c11", "-fsyntax-only", "-Xclang", "-ast-dump=json", f"-I{include}", "-"]
    dump = subprocess.run(command, input=HEADER, capture_output=True, text=True, check=True).stdout
    return {
        node["name"]: [
            part.get("name", "") for part in node.get("inner", []) if part["kind"] == "ParmVarDecl"
        ]
        for node in json.loads(dump)["inner"]
        if node.get("kind") == "FunctionDecl"
    }


def listed(path):
    """The same as the table has them."""
    with open(path, encoding="utf-8") as table:
        text = re.sub(r"/\*.*?\*/", "", table.read(), flags=re.S)
    rows = re.findall(r"CALL(?:_0|_VOID)?\((\w+)(.*?)\)\n(?=CALL|\n|\Z)", text, flags=re.S)
    return {name: re.findall(r", (\w+), \w\)", rest + ")") for name, rest in rows}


def main():
    headers, table = declared(sys.argv[1], sys.argv[3]), listed(sys.argv[2])
    wrong, compared = [], 0
    for name, parameters in table.items():
        if name not in headers:
            continue
        compared += 1
        for ours, theirs in zip(parameters, headers[name]):
            if ours != theirs and ours != "stream":
                wrong.append(f"{name}: {ours} is {theirs} in the headers")
        if len(parameters) != len(headers[name]):
            wrong.append(f"{name}: {len(parameters)} parameters, {len(headers[name])} in the headers")
    if compared < 200:
        wrong.append(f"only {compared} of {len(table)} calls are in the headers")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
