"""Checks the ```mlir examples in the generated reference.

Every example parses and verifies; the first example of a pass is also run through that pass. An example may begin with a
comment that gives its context:

  // %x : tensor<8xf32>; %n : index                  the free values of the example
  // dims [m = 8]; %0 : !spacemap.space<[m], f32>    it stands in a graph with these dimensions

What follows a line `// becomes` is the result and is not checked; an example with an ellipsis is an excerpt and is not
checked either.

usage: check_examples.py <fusion-opt> <docs/reference>
"""

import pathlib
import re
import subprocess
import sys

HEADING = re.compile(r"^###? `-?([\w.-]+)`")
VALUE = re.compile(r"(%\w+)\s*:\s*(.+)$")
EXTENT = re.compile(r"(\w+)\s*=\s*(\d+)")
SPACE = re.compile(r"!spacemap\.space<\[(.*?)\], *(.+)>$")


def examples(path):
    """Yields heading, line number, number within the heading, and text of each example."""
    heading, block, start, count = "", None, 0, 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if block is not None:
            if line.strip() == "```":
                yield heading, start, count, "\n".join(block)
                block, count = None, count + 1
            else:
                block.append(line)
        elif line.strip() == "```mlir":
            block, start = [], number + 1
        elif match := HEADING.match(line):
            heading, count = match.group(1), 0


def context(text):
    """Splits off the leading comment: extents of the graph (or None), free values with their types, and the rest."""
    extents, values, lines = None, [], text.splitlines()
    while lines and lines[0].lstrip().startswith("//"):
        for part in lines.pop(0).lstrip(" /").split(";"):
            part = part.strip()
            if part.startswith("dims"):
                extents = dict(EXTENT.findall(part))
            elif match := VALUE.match(part):
                values.append(match.groups())
    return extents, values, "\n".join(lines)


def wrap(text):
    """The example as a module."""
    if re.search(r"\b(func\.func|module)\b", text):
        return text
    extents, values, body = context(text)
    if extents is None:
        arguments = ", ".join(f"{name}: {type}" for name, type in values)
        return f"func.func @example({arguments}) {{\n{body}\nreturn\n}}\n"
    arguments, inputs, sources = [], [], []
    for index, (name, type) in enumerate(values):
        if match := SPACE.match(type):
            dims = [dim.strip() for dim in match.group(1).split(",") if dim.strip()]
            tensor = "x".join([extents[dim] for dim in dims] + [match.group(2)])
            arguments.append(f"%arg{index}: tensor<{tensor}>")
            inputs.append((f"%in{index}", f"%arg{index}", f"tensor<{tensor}>"))
            sources.append(f"{name} = spacemap.source %in{index} [{', '.join(dims)}] : tensor<{tensor}> -> {type}")
        else:
            arguments.append(f"%arg{index}: {type}")
            inputs.append((name, f"%arg{index}", type))
    dims = ", ".join(f"{name} = {extent}" for name, extent in extents.items())
    bindings = ", ".join(f"{name} = {value}" for name, value, _ in inputs)
    types = ", ".join(type for _, _, type in inputs)
    ins = f"{bindings} : {types}" if inputs else ""
    lines = [f"func.func @example({', '.join(arguments)}) {{", f"spacemap.graph dims [{dims}] ins({ins}) {{", *sources,
             body, "}", "return", "}"]
    return "\n".join(lines) + "\n"


def run(tool, module, *options):
    return subprocess.run([tool, "-", "-o", "/dev/null", *options], input=module, capture_output=True, text=True,
                          timeout=60)


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    checked = skipped = failed = 0
    for path in sorted(folder.glob("*.md")):
        for heading, line, number, text in examples(path):
            text = re.split(r"^\s*// becomes\b", text, flags=re.MULTILINE)[0]
            if "..." in text:
                print(f"{path.name}:{line}: excerpt, not checked")
                skipped += 1
                continue
            checked += 1
            module = wrap(text)
            options = [f"--{heading}"] if path.name.startswith("passes-") and number == 0 else []
            for arguments in ([], options) if options else ([],):
                result = run(tool, module, *arguments)
                if result.returncode:
                    failed += 1
                    print(f"{path.name}:{line}: example of '{heading}' fails {' '.join(arguments)}\n{result.stderr}\n{module}")
                    break
    print(f"{checked} examples checked, {skipped} excerpts, {failed} failed")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
