"""Runs the commands in the ```sh blocks of a page; each must succeed, and print something or write a file.

They run in a folder of their own that looks like the source tree, so that nothing is written into that.

usage: check_commands.py <page> <source tree> <build tree> <folder of LLVM's tools>
"""

import os
import re
import subprocess
import sys
import tempfile


def main():
    page, source, build, llvm = sys.argv[1:]
    text = open(page).read()
    commands = [line for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
                for line in block.splitlines() if line.strip()]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "test"):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
        for command in commands:
            before = set(os.listdir(folder))
            real = re.sub(r"\bbuild/", f"{build}/", command).replace("mlir-opt-22", f"{llvm}/mlir-opt")
            result = subprocess.run(real, shell=True, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if result.returncode or not (result.stdout or set(os.listdir(folder)) - before):
                failed += 1
                print(f"{command}\nended with {result.returncode}\n{result.stderr}")
    print(f"{len(commands)} commands, {failed} failed")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
