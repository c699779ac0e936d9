"""Counts the launches of the last loop of a program: those of the loop itself, plus those in conditions."""

import re
import sys

wanted = sys.argv[1]
depth, loops = 0, []
for line in sys.stdin:
    if re.match(r"\s*scf\.for", line):
        loops.append([0, 0])
        depth = 1
    elif depth and re.match(r"\s*scf\.if", line):
        depth += 1
    elif depth and re.match(r"\s*}$", line):
        depth -= 1
    elif depth and "dist.launch" in line:
        loops[-1][min(depth, 2) - 1] += 1
plain, conditional = loops[-1]
found = f"{plain}+{conditional}" if conditional else str(plain)
if found != wanted:
    sys.exit(f"{found} launches in an iteration, not {wanted}")
