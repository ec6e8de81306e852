"""python3 -m rtl: what the module does from a command line."""

import argparse
import sys

import rtl


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="python3 -m rtl", description="Traces of RTL, from Python.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parquet = commands.add_parser("parquet", help="write kernels, calls, ranges, copies and graph launches as Parquet files")
    parquet.add_argument("trace", metavar="TRACE")
    parquet.add_argument("folder", metavar="FOLDER", help="gets kernels.parquet and the others; is made if it is not there")
    summary = commands.add_parser("summary", help="kernels by name, the largest total first")
    summary.add_argument("trace", metavar="TRACE")
    summary.add_argument("-n", type=int, default=20, metavar="ROWS", help="at most so many, 20 by default")
    return parser.parse_args(arguments)


def _summary(trace, rows):
    print(f"{'total ms':>12} {'kernels':>12} {'mean us':>10} {'p99 us':>10}  name")
    for group in trace.summary()[:rows]:
        print(f"{group.total / 1e6:12.3f} {group.count:12} {group.mean / 1e3:10.2f} {group.p99 / 1e3:10.2f}  {group.name}")


def main(arguments=None):
    """Runs a command; returns the exit status."""
    options = _parse(arguments)
    try:
        with rtl.open(options.trace) as trace:
            if options.command == "summary":
                _summary(trace, options.n)
            else:
                for table, rows in trace.to_parquet(options.folder).items():
                    print(f"{options.folder}/{table}.parquet: {rows} rows")
    except (rtl.Error, OSError, ImportError) as error:
        print(f"rtl: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
