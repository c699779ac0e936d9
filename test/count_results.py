"""Prints `N passed, N failed[, N skipped]` from lit's JSON result; the exit status is 0 only if all is well.

usage: count_results.py <result.json> <exit status of lit>
"""

import collections
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}


def main():
    path, status = sys.argv[1], int(sys.argv[2])
    try:
        with open(path) as file:
            tests = json.load(file)["tests"]
    except (OSError, ValueError, KeyError) as error:
        print(f"no result of lit: {error}", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    codes = collections.Counter(test["code"] for test in tests)
    codes.pop("EXCLUDED", None)  # by a filter
    passed = sum(count for code, count in codes.items() if code in PASSED)
    skipped = sum(count for code, count in codes.items() if code in SKIPPED)
    failed = sum(codes.values()) - passed - skipped
    for test in tests:
        if test["code"] in SKIPPED:
            print(f"skipped: {test['name']}")
    if passed + failed == 0:
        print("no test ran", file=sys.stderr)
    if failed == 0 and status != 0:
        print(f"lit ended with status {status}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if failed == 0 and passed > 0 and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
