"""rtl, as a wheel has it: the program in the prefix beside this file."""

import os
import sys


def main():
    """Becomes that program."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prefix", "bin", "rtl")
    try:
        os.execv(program, ["rtl", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"rtl: {program} cannot be run: {error.strerror}")
