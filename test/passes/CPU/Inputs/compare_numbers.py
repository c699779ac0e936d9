"""Compares the numbers in two printed texts: compare_numbers.py <got> <want> <tolerance>."""

import re
import sys

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)")


def numbers(path):
    with open(path) as text:
        lines = [line for line in text if not line.startswith("Unranked")]
    return [float(number) for number in NUMBER.findall("".join(lines))]


got, want = numbers(sys.argv[1]), numbers(sys.argv[2])
tolerance = float(sys.argv[3])
if not want or len(got) != len(want):
    sys.exit(f"{len(got)} numbers instead of {len(want)}")
for index, (g, w) in enumerate(zip(got, want)):
    same = g == w or (g != g and w != w) or abs(g - w) <= tolerance * (1 + abs(w))
    if not same:
        sys.exit(f"number {index}: got {g}, want {w}")
print(f"{len(want)} numbers agree")
