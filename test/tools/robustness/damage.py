"""Feeds truncated and mutated variants of the suite's .mlir files to the tools. None may crash or hang.

The exit status of a tool does not matter, how it ends does: a signal, an abort or a time-out is a failure. The variants
depend on the seed and on the files only; the time bound ends the run early on a slow machine.

usage: damage.py --tool <command> [--tool <command> ...] [--seed N] [--variants N] [--seconds N] <folder or file>...
"""

import argparse
import hashlib
import pathlib
import random
import re
import subprocess
import sys
import time

TOKEN = re.compile(r"[%@#!]?[\w.$-]+|\S")
DIRECTIVE = re.compile(r"^\s*// *(RUN|REQUIRES|CHECK[\w-]*|expected-).*$", re.MULTILINE)
# What stands for a number, a type or a name in a damaged file.
NUMBERS = ["0", "1", "-1", "7", "9223372036854775807", "18446744073709551616", "1000000000"]
TYPES = ["f32", "f16", "i1", "i64", "index", "none", "tensor<?xf32>", "tensor<*xf32>", "tensor<0xf32>", "memref<4xf32>",
         "vector<4xf32>", "tensor<4x4xi8>", "complex<f32>", "!spacemap.space<[], f32>", "!spacemap.space<[m], f32>"]


def truncate(rng, text):
    return text[: rng.randrange(len(text) + 1)]


def delete_token(rng, text):
    match = rng.choice(list(TOKEN.finditer(text)))
    return text[: match.start()] + text[match.end() :]


def swap_tokens(rng, text):
    first, second = sorted(rng.sample(list(TOKEN.finditer(text)), 2), key=lambda match: match.start())
    return (text[: first.start()] + second.group() + text[first.end() : second.start()] + first.group()
            + text[second.end() :])


def replace(pattern, choices):
    def mutate(rng, text):
        matches = list(re.finditer(pattern, text))
        if not matches:
            return truncate(rng, text)
        match = rng.choice(matches)
        return text[: match.start()] + rng.choice(choices) + text[match.end() :]

    return mutate


def copy_name(rng, text):
    """One SSA value in the place of another."""
    names = list(re.finditer(r"%\w+", text))
    if len(names) < 2:
        return truncate(rng, text)
    target, source = rng.sample(names, 2)
    return text[: target.start()] + source.group() + text[target.end() :]


def drop_line(rng, text):
    lines = text.splitlines(True)
    del lines[rng.randrange(len(lines))]
    return "".join(lines)


def repeat_line(rng, text):
    lines = text.splitlines(True)
    index = rng.randrange(len(lines))
    lines.insert(rng.randrange(len(lines)), lines[index])
    return "".join(lines)


def change_byte(rng, text):
    index = rng.randrange(len(text))
    return text[:index] + chr(rng.randrange(1, 127)) + text[index + 1 :]


MUTATIONS = [truncate, delete_token, swap_tokens, replace(r"\b\d+\b", NUMBERS), replace(r"\b\d+\b", NUMBERS),
             replace(r"\b(f16|f32|f64|bf16|i1|i32|i64|index)\b", TYPES), replace(r"tensor<[^<>]*>", TYPES), copy_name,
             copy_name, drop_line, repeat_line, change_byte]


def collect(paths):
    """The modules of the files, split as --split-input-file would, without directives, shortest and longest cut off."""
    modules = []
    for path in paths:
        path = pathlib.Path(path)
        files = sorted(path.rglob("*.mlir")) if path.is_dir() else [path]
        for file in files:
            try:
                text = file.read_text()
            except UnicodeDecodeError:
                continue
            for part in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
                part = DIRECTIVE.sub("", part).strip()
                if 20 < len(part) < 20000:
                    modules.append((f"{file.name}", part))
    return modules


def command_line(tool, text):
    """The words of the command; `{inputs}` is one `--input=random:<k>` for each argument of @main."""
    words = []
    for word in tool.split():
        if word == "{inputs}":
            main_arguments = re.search(r"@main\((.*)\)", text)
            count = main_arguments.group(1).split(") ->")[0].count("%") if main_arguments else 0
            words += [f"--input=random:{number}" for number in range(count)]
        else:
            words.append(word)
    return words


def attempt(tool, text, timeout):
    """Runs the tool; the reason why this is a failure, or nothing."""
    try:
        result = subprocess.run(command_line(tool, text), input=text, capture_output=True, text=True, errors="replace",
                                timeout=timeout)
    except subprocess.TimeoutExpired:
        return f"did not end in {timeout} s"
    # A signal, the 128+n by which a shell or a handler reports one, or what LLVM says when it gives up.
    if (result.returncode < 0 or result.returncode >= 128
            or any(phrase in result.stderr for phrase in ("LLVM ERROR", "Stack dump:", "fault of Fusion"))):
        return f"ended with {result.returncode}\n{result.stderr[-1500:]}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", action="append", required=True)
    parser.add_argument("--stock", help="an upstream tool; an input that crashes it too is upstream's fault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--variants", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--batch", type=int, default=20, help="variants per run of a tool with --split-input-file")
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--save", type=pathlib.Path, help="folder for the inputs that failed")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()

    modules = collect(options.paths)
    if not modules:
        sys.exit("no input")
    for tool in options.tool:
        # A tool that does not even start would pass every test below.
        result = subprocess.run(command_line(tool, ""), input="func.func @main() {\n  return\n}\n", capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"'{tool}' fails on an empty program: {result.stderr}")
    rng = random.Random(options.seed)
    variants = []
    for _ in range(options.variants):
        name, text = rng.choice(modules)
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            if len(TOKEN.findall(text)) > 2:
                text = rng.choice(MUTATIONS)(rng, text)
        variants.append((name, text))

    start, runs, failures, upstream, position = time.monotonic(), 0, 0, 0, 0
    for number in range(options.variants):
        if position >= len(variants):
            break
        if time.monotonic() - start > options.seconds:
            print(f"stopped by the time bound after {runs} of {options.variants} variants")
            break
        # Each group of variants goes to one tool, in turn: more variants are seen in the time.
        tool = options.tool[number % len(options.tool)]
        size = options.batch if "--split-input-file" in tool else 1
        group = variants[position : position + size]
        position += size
        runs += len(group)
        if not attempt(tool, "\n// -----\n".join(text for _, text in group), options.timeout * len(group)):
            continue
        # One of them, or all together.
        for name, text in group if len(group) > 1 else []:
            if attempt(tool, text, options.timeout):
                group = [(name, text)]
                break
        name, text = group[0][0], "\n// -----\n".join(text for _, text in group)
        if options.stock and attempt(options.stock, text, options.timeout * len(group)):
            upstream += 1
            continue
        failures += 1
        print(f"--- variant of {name}: '{tool}' {attempt(tool, text, options.timeout)}\n{text}\n---\n")
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            (options.save / f"{digest}.mlir").write_text(f"// {tool}\n{text}\n")
    print(f"{runs} variants, {failures} crashes, {upstream} crashes of upstream's parser")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
