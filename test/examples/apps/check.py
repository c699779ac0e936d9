"""Runs an application of examples/apps and compares it with NumPy.

    check.py PROGRAM N STEPS [KEY=VALUE | KEY<=VALUE ...] [-- OPTION ...]

The expected results are those of test/integration/apps/programs.py; the conditions are on keys of the JSON line. Options
(--init, --rhs, --sweeps, --bottom) go to both.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "integration", "apps"))
import programs


def main():
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    (name, n, steps, *conditions), options = arguments[:split], arguments[split + 1 :]
    named = dict(re.fullmatch(r"--(init|rhs|sweeps|bottom)=(.*)", o).groups() for o in options if re.match(r"--(init|rhs|sweeps|bottom)=", o))
    if "sweeps" in named:
        named["sweeps"] = int(named["sweeps"])
    expected = programs.PROGRAMS[name](int(n), int(steps), **named)
    with tempfile.TemporaryDirectory() as folder:
        outputs = [os.path.join(folder, f"{i}.npy") for i in range(len(expected))]
        run = subprocess.run(
            ["fusion-apps", name, f"--n={n}", f"--steps={steps}", "--json", *options, *(f"--out={o}" for o in outputs)],
            stdout=subprocess.PIPE,
            text=True,
        )
        if run.returncode:
            sys.exit(f"{name}: the run ended with status {run.returncode}")
        results = [np.load(path) for path in outputs]
    failed = False
    for number, (got, want) in enumerate(zip(results, expected)):
        error = np.abs(got - want).max() / np.abs(want).max() if got.shape == want.shape else np.inf
        if not error <= 1e-11:
            failed = True
            print(f"{name}: result {number} of shape {got.shape} is off by {error:.3e} of its largest value")
    facts = json.loads(run.stdout.splitlines()[0])
    for condition in conditions:
        key, relation, value = re.fullmatch(r"(\w+)(<=|=)(.*)", condition).groups()
        if not (facts[key] <= float(value) if relation == "<=" else facts[key] == float(value)):
            failed = True
            print(f"{name}: {key} is {facts[key]}, not {relation} {value}")
    sys.exit(failed)


main()
