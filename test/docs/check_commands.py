"""Runs the commands in the ```sh blocks of a page, from the source tree; each must succeed and print something.

usage: check_commands.py <page> <source tree> <build tree> <folder of LLVM's tools>
"""

import re
import subprocess
import sys


def main():
    page, source, build, llvm = sys.argv[1:]
    text = open(page).read()
    commands = [line for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
                for line in block.splitlines() if line.strip()]
    failed = 0
    for command in commands:
        real = re.sub(r"\bbuild/", f"{build}/", command).replace("mlir-opt-22", f"{llvm}/mlir-opt")
        result = subprocess.run(real, shell=True, cwd=source, capture_output=True, text=True)
        if result.returncode or not result.stdout:
            failed += 1
            print(f"{command}\nended with {result.returncode}\n{result.stderr}")
    print(f"{len(commands)} commands, {failed} failed")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
