"""Feeds truncated and mutated programs to a tool: each run must end by itself, with exit status 0 or with an error in one
line that names a place.

    mutate.py SEED COUNT FOLDER TOOL [options of the tool]

FOLDER is searched for .mlir files. Prints a line per run that does not keep to that; exit status 0 if there is none.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

SWAPS = [("addf", "mulf"), ("f32", "f64"), ("f32", "f16"), ("f32", "i32"), ("parallel", "reduction"),
         ("reduction", "parallel"), ("d0", "d1"), ("%c0", "%c1"), ("x64", "x?"), ("x1", "x2"), ("d1", "0"),
         ("addf", "maximumf"), ("ogt", "ult")]
NUMBERS = ["0", "1", "2", "7", "64", "99999999999", "-1", "18446744073709551616"]


def mutate(r, text):
    kind = r.choice(["cut", "drop", "number", "number", "number", "line", "twice", "swap", "swap", "swap", "byte"])
    at = r.randrange(len(text))
    if kind == "cut":
        return text[:at]
    if kind == "drop":
        return text[:at] + text[at + r.randint(1, 20):]
    if kind == "byte":
        return text[:at] + r.choice("(){}<>%^#@x?0-,:\"\0") + text[at + 1:]
    if kind == "number":
        match = r.choice(list(re.finditer(r"\d+", text)) or [None])
        return text[:match.start()] + r.choice(NUMBERS) + text[match.end():] if match else text
    if kind == "swap":
        old, new = r.choice(SWAPS)
        places = [m.start() for m in re.finditer(re.escape(old), text)]
        if not places:
            return text
        at = r.choice(places)
        return text.replace(old, new) if r.random() < 0.5 else text[:at] + new + text[at + len(old):]
    lines = text.split("\n")
    at = r.randrange(len(lines))
    if kind == "line":
        del lines[at]
    else:
        lines.insert(r.randrange(len(lines)), lines[at])
    return "\n".join(lines)


def get_inputs(r, text):
    """`--input`s that fit the arguments of the first function, as far as they can be read."""
    function = re.search(r"func\.func (?:public )?@main\(([^)]*)\)", text)
    inputs = []
    for type_ in re.findall(r"%\w+: (tensor<[^>]*>|\w+)", function.group(1) if function else ""):
        if type_.startswith("tensor"):
            inputs.append("--input=%s=random:1" % type_[7:-1].replace("?", str(r.choice([0, 1, 3, 5]))))
        else:
            inputs.append("--input=1")
    return inputs


def main():
    seed, count, folder, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    r = random.Random(seed)
    files = sorted(os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
                   if name.endswith(".mlir"))
    files = [file for file in files if os.path.getsize(file) < 40000]
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "mutated.mlir")
        for number in range(count):
            source = r.choice(files)
            with open(source) as file:
                text = mutate(r, file.read())
            with open(path, "w") as file:
                file.write(text)
            inputs = get_inputs(r, text) if "fusion-run" in os.path.basename(command[0]) else []
            try:
                run = subprocess.run(command + [path] + inputs, capture_output=True, timeout=120)
                status, said = run.returncode, run.stderr.decode("utf-8", "replace")
            except subprocess.TimeoutExpired:
                status, said = "timeout", ""
            fault = status not in (0, 1, 2) or "Stack dump" in said or "PLEASE submit" in said
            fault = fault or (status != 0 and not re.search(r"error: ", said))
            if not fault:
                continue
            failures += 1
            print("run %d, from %s: status %s: %s" % (number, os.path.basename(os.path.dirname(source)), status,
                                                      said.strip().split("\n")[0][:200]))
    print("%d runs, %d faults" % (count, failures))
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
