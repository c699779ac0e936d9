"""Errors of vector mathematics in units in the last place: accuracy.py <fusion-run> <scratch folder>."""

import array
import math
import os
import random
import struct
import subprocess
import sys

# Name: exact function, range of arguments (logarithmic where the first bound is positive and small), bounds for f32 and f64. The f64 bounds include
# half a unit of the C library, which is what they are compared with.
INF = math.inf
FUNCTIONS = {
    "exp": (math.exp, (-85.0, 85.0), 1.5, 2.0),
    "exp2": (lambda x: 2.0**x, (-120.0, 120.0), 1.5, 2.0),
    "expm1": (math.expm1, (-20.0, 20.0), 2.0, 2.5),
    "log": (math.log, (1e-30, 1e30), 1.5, 1.5),
    "log2": (math.log2, (1e-30, 1e30), 2.5, 2.5),
    "log10": (math.log10, (1e-30, 1e30), 2.5, 2.5),
    "log1p": (math.log1p, (1e-9, 1e9), 1.5, 1.5),
    "tanh": (math.tanh, (-10.0, 10.0), 2.0, 2.5),
    "erf": (math.erf, (-6.0, 6.0), 4.0, 3.0),
    "sin": (math.sin, (-1000.0, 1000.0), 2.0, 1.5),
    "cos": (math.cos, (-1000.0, 1000.0), 2.0, 1.5),
}
COUNT = 4000
# Arguments for which the result is compared exactly (NaN with NaN, zeros with their sign).
SPECIAL = {
    "exp": [(INF, INF), (-INF, 0.0), (0.0, 1.0)],
    "exp2": [(INF, INF), (-INF, 0.0), (3.0, 8.0)],
    "expm1": [(INF, INF), (-INF, -1.0), (0.0, 0.0)],
    "log": [(INF, INF), (0.0, -INF), (1.0, 0.0), (-1.0, math.nan)],
    "log2": [(INF, INF), (0.0, -INF), (8.0, 3.0), (-1.0, math.nan)],
    "log10": [(INF, INF), (0.0, -INF), (1.0, 0.0), (-1.0, math.nan)],
    "log1p": [(INF, INF), (-1.0, -INF), (0.0, 0.0), (-2.0, math.nan)],
    "tanh": [(INF, 1.0), (-INF, -1.0), (-0.0, -0.0)],
    "erf": [(INF, 1.0), (-INF, -1.0), (0.0, 0.0)],
    "sin": [(INF, math.nan), (-0.0, -0.0), (0.0, 0.0)],
    "cos": [(INF, math.nan), (0.0, 1.0)],
}


def write(path, code, values):
    header = f"{{'descr': '<f{8 if code == 'd' else 4}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        array.array(code, values).tofile(file)


def read(path, code, count):
    with open(path, "rb") as file:
        data = file.read()
    values = array.array(code)
    values.frombytes(data[-count * values.itemsize :])
    return values


def arguments(name, code):
    low, high = FUNCTIONS[name][1]
    generator = random.Random(name)
    values = [x for x, _ in SPECIAL[name]] + [math.nan]
    while len(values) < COUNT:
        u = generator.random()
        values.append(low * (high / low) ** u if low > 0 else low + (high - low) * u)
        if low < 0 and len(values) % 4 == 0:  # small ones of both signs
            values[-1] = values[-1] * 2.0 ** -generator.randint(0, 25)
    return array.array(code, values)


def ulp(x, code):
    if code == "d":
        return math.ulp(x)
    exponent = max(math.frexp(x)[1], -125)
    return 2.0 ** (exponent - 24)


def check(tool, folder, code):
    element = "f64" if code == "d" else "f32"
    vector = f"tensor<{COUNT}x{element}>"
    lines, command = [], [tool, os.path.join(folder, f"{element}.mlir"), "--threads=1"]
    inputs = {name: arguments(name, code) for name in FUNCTIONS}
    for index, name in enumerate(FUNCTIONS):
        write(os.path.join(folder, f"{name}.{element}.npy"), code, inputs[name])
        command.append(f"--input=@{os.path.join(folder, f'{name}.{element}.npy')}")
        lines.append(
            f"  %r{index} = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
            f'iterator_types = ["parallel"]}} ins(%x{index} : {vector}) outs(%e : {vector}) {{\n'
            f"  ^bb0(%a: {element}, %b: {element}):\n    %v = math.{name} %a : {element}\n"
            f"    linalg.yield %v : {element}\n  }} -> {vector}"
        )
    for name in FUNCTIONS:
        command.append(f"--output=@{os.path.join(folder, f'{name}.{element}.out.npy')}")
    count = len(FUNCTIONS)
    parameters = ", ".join(f"%x{i}: {vector}" for i in range(count))
    with open(command[1], "w") as file:
        file.write(f"func.func @main({parameters}) -> ({', '.join([vector] * count)}) {{\n")
        file.write(f"  %e = tensor.empty() : {vector}\n" + "\n".join(lines) + "\n")
        file.write(f"  return {', '.join(f'%r{i}' for i in range(count))} : {', '.join([vector] * count)}\n}}\n")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    failed = False
    for name, (exact, _, bound32, bound64) in FUNCTIONS.items():
        got = read(os.path.join(folder, f"{name}.{element}.out.npy"), code, COUNT)
        special = SPECIAL[name] + [(math.nan, math.nan)]
        for (x, want), value in zip(special, got):
            same = (value != value and want != want) or (
                value == want and (want != 0 or math.copysign(1, value) == math.copysign(1, want))
            )
            if not same:
                print(f"{name} {element}: {name}({x}) is {value}, not {want}")
                failed = True
        worst = (0.0, 0.0)
        for x, value in list(zip(inputs[name], got))[len(special) :]:
            want = exact(x)
            worst = max(worst, (abs(value - want) / ulp(want, code), x))
        bound = bound64 if code == "d" else bound32
        verdict = "ok" if worst[0] <= bound else "WRONG"
        failed |= verdict != "ok"
        print(f"{name} {element}: {worst[0]:.2f} ulp at {worst[1]!r}, at most {bound}: {verdict}")
    return not failed


os.makedirs(sys.argv[2], exist_ok=True)
if not all([check(sys.argv[1], sys.argv[2], code) for code in "fd"]):
    sys.exit(1)
