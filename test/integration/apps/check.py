"""Runs an application and compares it with NumPy.

    check.py PROGRAM [--n=N ...] [--expect KEY=VALUE ...] [--rtol=R] -- COMMAND ...

prints the program with `task-programs`, runs `COMMAND program.mlir --json --output=...`, compares each result with the
functions of programs.py, and checks keys of the JSON line: KEY=VALUE for a number, KEY<=VALUE for a bound.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import programs


def main():
    split = sys.argv.index("--")
    command = sys.argv[split + 1 :]
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=programs.PROGRAMS)
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--points", type=int, default=1)
    parser.add_argument("--init")
    parser.add_argument("--rhs")
    parser.add_argument("--bottom")
    parser.add_argument("--sweeps", type=int)
    parser.add_argument("--rtol", type=float, default=1e-11)
    parser.add_argument("--expect", action="append", default=[])
    args = parser.parse_args(sys.argv[1:split])

    options = {name: getattr(args, name) for name in ("init", "rhs", "bottom", "sweeps") if getattr(args, name)}
    expected = programs.PROGRAMS[args.program](args.n, args.steps, **options)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "program.mlir")
        text = [f"--{key}={value}" for key, value in {**options, "n": args.n, "steps": args.steps}.items()]
        with open(source, "w") as file:
            subprocess.run(["task-programs", args.program, f"--points={args.points}", *text], stdout=file, check=True)
        outputs = [os.path.join(folder, f"{i}.npy") for i in range(len(expected))]
        run = subprocess.run(
            [*command, source, "--json", *(f"--output=@{path}" for path in outputs)], stdout=subprocess.PIPE, text=True
        )
        if run.returncode:
            sys.exit(f"{args.program}: the run ended with status {run.returncode}")
        results = [np.load(path) for path in outputs]

    failed = False
    for number, (got, want) in enumerate(zip(results, expected)):
        scale = np.abs(want).max(initial=1e-300)
        error = np.abs(got - want).max(initial=0) / scale if got.shape == want.shape else np.inf
        if not error <= args.rtol:
            failed = True
            print(f"{args.program}: result {number} of shape {got.shape} is off by {error:.3e} of its largest value")
    facts = json.loads(next(line for line in run.stdout.splitlines() if line.startswith("{")))
    for condition in args.expect:
        key, relation, value = re.fullmatch(r"(\w+)(<=|=)(.*)", condition).groups()
        holds = facts[key] <= float(value) if relation == "<=" else facts[key] == float(value)
        if not holds:
            failed = True
            print(f"{args.program}: {key} is {facts[key]}, not {relation} {value}")
    sys.exit(failed)


main()
