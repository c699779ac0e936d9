"""Writes the reference of dialects and passes from their TableGen definitions.

usage: generate.py [--tblgen mlir-tblgen] [--include dir] [--output docs/reference] [--check]

With --check nothing is written: the exit status is 1 if the files in the output directory differ from what would be.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"


def tblgen(tool, include, source, *options):
    command = [tool, *options, "-I", str(INCLUDE), "-I", include, str(source)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"generate.py: {' '.join(command)} failed\n{run.stderr}")
    return run.stdout


def clean(text):
    """One final newline, no trailing blanks, and no table of contents marker of a web site generator."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() not in ("[TOC]",)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def first_line(source, pattern, default):
    match = re.search(pattern, source.read_text())
    return match.group(1) if match else default


def generate(tool, include):
    """Maps file names to their text."""
    files, dialects, stages = {}, [], []
    for source in sorted(INCLUDE.glob("fusion/*/*Ops.td")):
        name = first_line(source, r'let name = "(\w+)"', source.parent.name.lower())
        summary = first_line(source, r'let summary = "([^"]*)"', "")
        file = f"dialect-{name}.md"
        files[file] = clean(tblgen(tool, include, source, "-gen-dialect-doc", f"-dialect={name}"))
        dialects.append(f"- [`{name}`]({file}): {summary}")
    for source in sorted(INCLUDE.glob("fusion/*/Passes.td")):
        stage = source.parent.name
        text = tblgen(tool, include, source, "-gen-pass-doc")
        passes = re.findall(r"^### `-([\w-]+)`\s+_(.*)_\s*$", text, re.MULTILINE)
        if not passes:
            continue
        file = f"passes-{stage.lower()}.md"
        files[file] = clean(f"# Passes of the stage {stage}\n\n{text}")
        stages.append(f"\n### [{stage}]({file})\n")
        stages += [f"- [`{name}`]({file}#-{name}): {summary}" for name, summary in passes]
    index = ["# Reference", "", "Made by `./dev docs` from the definitions in `include/fusion`; do not edit.", "",
             "## Dialects", "", *dialects, "", "## Passes", *stages]
    files["README.md"] = clean("\n".join(index))
    return files


def check(files, folder):
    stale = False
    present = {path.name for path in folder.glob("*.md")}
    for name in sorted(present | files.keys()):
        old = (folder / name).read_text() if name in present else ""
        new = files.get(name, "")
        if old != new:
            stale = True
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, name))
    if stale:
        print("docs/reference is stale: run ./dev docs")
    return 1 if stale else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tblgen", default="/usr/lib/llvm-22/bin/mlir-tblgen")
    parser.add_argument("--include", help="headers of MLIR (default: beside the tool)")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs" / "reference")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    include = options.include or str(pathlib.Path(options.tblgen).resolve().parent.parent / "include")
    files = generate(options.tblgen, include)
    if options.check:
        return check(files, options.output)
    options.output.mkdir(parents=True, exist_ok=True)
    for path in options.output.glob("*.md"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        (options.output / name).write_text(text)
    print(f"wrote {len(files)} files to {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
