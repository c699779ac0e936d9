"""Runs random dist programs under a launcher and compares with the reference interpreter.

    run.py --generator=PROGRAM --operations=N --seeds=FROM:TO --ranks=1,2 -- LAUNCHER ...

The launcher gets `-np N fusion-run program.mlir ...`; `fusion-run` must be on the path. PROGRAM SEED
OPERATIONS prints a program.
"""

import argparse
import os
import subprocess
import sys
import tempfile


def main():
    split = sys.argv.index("--")
    launcher = sys.argv[split + 1 :]
    parser = argparse.ArgumentParser()
    parser.add_argument("--generator", required=True)
    parser.add_argument("--operations", default="14")
    parser.add_argument("--seeds", required=True)
    parser.add_argument("--ranks", required=True)
    options = parser.parse_args(sys.argv[1:split])
    first, last = map(int, options.seeds.split(":"))
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last + 1):
            program = os.path.join(folder, f"random-{seed}.mlir")
            with open(program, "w") as file:
                subprocess.run([options.generator, str(seed), options.operations], stdout=file, check=True)
            for ranks in options.ranks.split(","):
                for fuse in ("on", "off"):
                    command = [*launcher, "-np", ranks, "fusion-run", program, f"--fuse-tasks={fuse}", "--expected=reference"]
                    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                    if done.returncode != 0:
                        failures += 1
                        print(f"seed {seed}, {ranks} ranks, fusion {fuse}: status {done.returncode}\n{done.stdout}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
