"""Writes docs/models.md: what becomes of the model layers of the test-suite.

usage: models.py [--tools build/bin] [--output docs/models.md]

For each layer, fusion-opt is run twice: --fusion-normalize, to count the operations that go in, and --fusion-to-spaces with
the remarks on kernels and on pairs that stay apart. benchmarks/inputs has the same layers at the sizes of the models.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = [
    ("bert_layer", "BERT encoder layer"),
    ("albert_layer", "ALBERT encoder layer"),
    ("t5_encoder_layer", "T5 encoder layer"),
    ("vit_layer", "ViT encoder layer"),
    ("llama_decoder_layer", "Llama decoder layer"),
]
# The threads that the grid is planned for: the page does not depend on the machine's number of processors.
PIPELINE = "--fusion-to-spaces=threads=8"
REMARKS = ["--remarks-filter=spacemap"]
# Destinations and transposes are no computations.
COMPUTATION = re.compile(r"= (?:linalg\.(?!fill\b|yield\b|index\b|transpose\b)|tensor\.(?:concat|pad|extract_slice|insert_slice|gather)\b)")


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"models.py: {' '.join(map(str, command))} failed\n{result.stderr[-2000:]}")
    return result


def analyze(tools, path):
    opt = tools / "fusion-opt"
    text = run([opt, path, "--fusion-normalize"]).stdout
    count = sum(len(COMPUTATION.findall(line)) for line in text.splitlines())
    log = run([opt, path, PIPELINE, *REMARKS, "-o", "/dev/null"]).stderr
    kernels, apart = [], []
    for match in re.finditer(r"^\S*?:(\d+):\d+: remark: \[(Passed|Missed)\] (\S+) \| (.*)$", log, re.MULTILINE):
        line, kind, name, facts = match.groups()
        facts = dict(re.findall(r'(\w+)="([^"]*)"', facts))
        if kind == "Passed":
            kernels.append((int(line), facts))
        else:
            apart.append((int(line), name, facts["Remark"]))
    return count, sorted(kernels, key=lambda kernel: kernel[0]), sorted(apart)


def number_of_ops(kernel):
    return len(kernel["Ops"].split("; "))


def summary(kernel):
    """"contraction, add, max, exp": kinds of operations in order, without dimensions and repetitions."""
    names = []
    for op in kernel["Ops"].split("; "):
        for name in re.sub(r" \(.*?\)$", "", op).split(", "):
            name = re.sub(r" along .*", "", name)
            if not re.fullmatch(r"d\d+|\.\.\.", name) and (not names or names[-1] != name):
                names.append(name)
    limit = 14
    return ", ".join(names[:limit]) + (f", ... ({len(names) - limit} more)" if len(names) > limit else "")


def is_attention_core(kernel):
    """Scores, softmax and weighted sum of the values, in this order."""
    return re.search(r"contraction.*\bmax\b.*\bexp\b.*\bsum\b.*contraction", kernel["Ops"]) is not None


def shorten(text):
    """Places are lines of the model; numbers of the cost model are not of interest here."""
    text = re.sub(r" at [\w.<>-]+:(\d+):\d+", r" (line \1)", text)
    text = text.replace(" is not fused with its operand, ", " / ")
    return re.sub(r"predicted [\d.]+ us in one kernel, [\d.]+ us apart", "predicted to be faster apart", text)


def section(title, path, count, kernels, apart):
    lines = [f"## {title}", "", f"`{path}`: {count} operations in, {len(kernels)} kernels out.", ""]
    lines += ["| kernel at line | operations | blocks | serial loop | what |", "| --- | --- | --- | --- | --- |"]
    for line, facts in kernels:
        temporal = re.match(r"(\d+) at a time, (\d+ loops? along \w+)", facts.get("Temporal", ""))
        loop = f"{temporal.group(2)} by {temporal.group(1)}" if temporal else ""
        lines.append(f"| {line} | {number_of_ops(facts)} | {facts['Blocks']} | {loop} | {summary(facts)} |")
    lines += ["", "Why not fewer:" if apart else "All of it is in one kernel.", ""]
    merged = collections.OrderedDict()
    for line, name, text in apart:
        merged.setdefault((line, name, shorten(text)), None)
    lines += [f"- line {line}: [{name}](fusion-report.md#{name}): {text}" for line, name, text in merged]
    return lines + [""]


def generate(tools):
    sections, table = [], []
    cases = [(f"{title}, {size}", pathlib.Path(folder) / name / file)
             for size, folder, file in (("test size", "test/inputs", "model.mlir"),
                                        ("size of the model", "benchmarks/inputs", "bench.mlir"))
             for name, title in MODELS]
    for title, path in cases:
        count, kernels, apart = analyze(tools, ROOT / path)
        reasons = collections.Counter(reason for _, reason, _ in apart)
        cores = sum(is_attention_core(facts) for _, facts in kernels)
        table.append(f"| {title} | {count} | {len(kernels)} | {'one kernel' if cores == 1 else f'{cores} kernels'} | "
                     f"{', '.join(f'{reason} ({n})' for reason, n in sorted(reasons.items()))} |")
        sections += section(title, path, count, kernels, apart)
    return "\n".join([
        "# What becomes of model layers", "",
        "Whole layers of models, exported from PyTorch, through the front of the compiler. *In* are the computations of the",
        "normalised program; *out* are kernels. The last column counts the pairs of neighbouring operations that are not in one",
        "kernel, by [reason](fusion-report.md#reasons); the sections below list them. *Attention core* is the kernel that holds both",
        "matrix products of attention and the softmax between them.", "",
        "This page is made by `python3 docs/models.py` from the remarks of the command below. Block sizes, and whether something",
        "fits, are those of the caches of the machine that it ran on.", "",
        f"    fusion-opt model.mlir {PIPELINE} {' '.join(REMARKS)} -o /dev/null", "",
        "| layer | operations in | kernels out | attention core | pairs apart, by reason |",
        "| --- | --- | --- | --- | --- |", *table, "", *sections])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/models.md")
    arguments = parser.parse_args()
    arguments.output.write_text(generate(arguments.tools).rstrip() + "\n")


main()
