"""What holds of the results of the applications, whatever the formulas: computed with the command that is given.

    invariants.py COMMAND ...
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

import programs


def run(program, results, **options):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "program.mlir")
        with open(source, "w") as file:
            text = [f"--{key}={value}" for key, value in options.items()]
            subprocess.run(["task-programs", program, *text], stdout=file, check=True)
        outputs = [os.path.join(folder, f"{i}.npy") for i in range(results)]
        subprocess.run([*sys.argv[1:], source, *(f"--output=@{path}" for path in outputs)], check=True)
        return [np.load(path) for path in outputs]


def require(name, value, limit):
    if not value <= limit:
        sys.exit(f"{name}: {value:.3e} exceeds {limit:.1e}")


call, put = run("black-scholes", 2, n=1000, steps=1, points=3)
spot, strike, time = programs.black_scholes_inputs(1000)
require("put-call parity", np.abs(call - put - (spot - strike * np.exp(-0.02 * time))).max(), 1e-12)

system, right = programs.jacobi_system(40)
(x,) = run("jacobi", 1, n=40, steps=60, points=2)
require("Jacobi: distance to the direct solution", np.abs(x - np.linalg.solve(system, right)).max(), 1e-14)

for solver in ("cg", "bicgstab", "gmg"):
    residuals = []
    for steps in (5, 40):
        (x,) = run(solver, 1, n=17, steps=steps, points=3)
        residuals.append(np.linalg.norm(1 - programs.poisson(x)))
    require(f"{solver}: the residual falls", residuals[1] / residuals[0], 1e-6)

# The sine right-hand side is a sum of two eigenvectors, so conjugate gradients end in two steps.
(x,) = run("cg", 1, n=24, steps=3, points=2, rhs="sine")
require("CG: exact after two steps", np.abs(programs.poisson(x) - programs.right_hand_side(24, "sine")).max(), 1e-12)

w, hu, hv = run("swe", 3, n=20, steps=10, points=3, init="rest")
require("a lake at rest stays at rest", max(np.abs(w - 1).max(), np.abs(hu).max(), np.abs(hv).max()), 1e-13)

u, v, p = run("cfd", 3, n=21, steps=2, points=3, init="rest")
require("flow from rest does not depend on x", np.abs(u - u[:, :1]).max() + np.abs(v).max(), 1e-14)

(grid,) = run("stencil", 1, n=12, steps=400, points=3)
average = (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]) / 4
require("the averages settle", np.abs(average - grid[1:-1, 1:-1]).max(), 1e-4)
