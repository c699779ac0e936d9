"""Runs random programs fused and compares them with the reference interpreter.

    run.py FUSION_RUN FIRST COUNT [--types f16,f32] [--keep FOLDER] [options of fusion-run]

Prints a line per program that fails, with its seed; the exit status is 0 if there is none.
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from generate import EXTENTS, LARGE, Program

TEMPORAL = ("fusion-normalize,func.func(spacemap-build,canonicalize,cse,spacemap-merge-dims,spacemap-postpone-broadcast,"
            "canonicalize,cse),spacemap-temporal-slice{dim=d%d step=%d max-reduction-passes=3}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fusion_run")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--types", default="f32")
    parser.add_argument("--large", action="store_true", help="a few large extents")
    parser.add_argument("--keep", help="folder for the programs that fail")
    parser.add_argument("--temporal", action="store_true",
                        help="slice graphs along some dimension by a few elements and interpret that")
    args, options = parser.parse_known_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.first, args.first + args.count):
            text = Program(seed, tuple(args.types.split(",")), LARGE if args.large else EXTENTS).build()
            path = os.path.join(folder, "%d.mlir" % seed)
            with open(path, "w") as file:
                file.write(text)
            flags = [flag for line in text.splitlines() if line.startswith("// --") for flag in line[3:].split()]
            if args.temporal:
                stage = TEMPORAL % (seed % 4, [1, 2, 3, 5, 8, 16, 40][seed // 4 % 7])
                flags += ["--target=reference", "--stage=" + stage]
            command = [args.fusion_run, path, "--expected=reference"] + flags + options
            try:
                run = subprocess.run(command, capture_output=True, text=True, timeout=120)
                status, said = run.returncode, (run.stderr or run.stdout).strip().split("\n")[0]
            except subprocess.TimeoutExpired:
                status, said = -1, "timeout"
            if status == 0:
                continue
            failures += 1
            print("seed %d: status %d: %s" % (seed, status, said.replace(folder + "/", "")[:300]), flush=True)
            if args.keep:
                os.makedirs(args.keep, exist_ok=True)
                with open(os.path.join(args.keep, "%d.mlir" % seed), "w") as file:
                    file.write(text)
    print("%d programs, %d failures" % (args.count, failures))
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
