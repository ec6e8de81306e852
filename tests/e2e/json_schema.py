#!/usr/bin/env python3
"""json_schema.py SCHEMA FILE...: checks JSON against a JSON Schema. It knows the keywords that schemas/ uses, and refuses others."""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}


def wrong(value, schema, place):
    """The first thing that is wrong with a value, None if nothing is."""
    for keyword, wanted in schema.items():
        problem = CHECKS[keyword](value, wanted, place)
        if problem:
            return problem
    return None


def of_type(value, wanted, place):
    fits = isinstance(value, TYPES[wanted]) and not isinstance(value, bool)
    return None if fits else f"{place} is no {wanted}: {str(value)[:60]}"


def has_keys(value, wanted, place):
    missing = [key for key in wanted if key not in value]
    return f"{place} has no {missing[0]}: {str(value)[:200]}" if missing else None


def each_property(value, wanted, place):
    return next(filter(None, (wrong(value[key], schema, f"{place}.{key}") for key, schema in wanted.items() if key in value)), None)


def each_item(value, wanted, place):
    return next(filter(None, (wrong(item, wanted, f"{place}[{i}]") for i, item in enumerate(value))), None)


def any_of(value, wanted, place):
    problems = [wrong(value, schema, place) for schema in wanted]
    return None if None in problems else f"{place} is none of what is allowed: {str(value)[:300]}; {problems}"


def check(holds, place, what):
    return None if holds else f"{place} {what}"


CHECKS = {
    "$comment": lambda value, wanted, place: None,
    "type": of_type,
    "required": has_keys,
    "properties": each_property,
    "items": each_item,
    "anyOf": any_of,
    "const": lambda value, wanted, place: check(value == wanted, place, f"is {value!r}, not {wanted!r}"),
    "enum": lambda value, wanted, place: check(value in wanted, place, f"is {value!r}, none of {wanted}"),
    "minItems": lambda value, wanted, place: check(len(value) >= wanted, place, f"has less than {wanted} items"),
    "maxItems": lambda value, wanted, place: check(len(value) <= wanted, place, f"has more than {wanted} items"),
    "minimum": lambda value, wanted, place: check(value >= wanted, place, f"is {value}, below {wanted}"),
    "pattern": lambda value, wanted, place: check(re.search(wanted, value), place, f"is {value!r}"),
}


def main(schema, files):
    with open(schema, encoding="utf-8") as file:
        rules = json.load(file)
    for path in files:
        with open(path, encoding="utf-8") as file:
            problem = wrong(json.load(file), rules, path)
        if problem:
            sys.exit(f"json_schema.py: {problem}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
