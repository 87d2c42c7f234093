#!/usr/bin/env python3
"""A program that puts blocks together wrongly gets one line from the compiler that says why.

    compile_test.py COMPILER OPTION… FILE

Compiles FILE. Where its first line is "// error: TEXT", exactly one error has to come out, and
it says TEXT; else it has to compile.
"""

import os
import pathlib
import re
import subprocess
import sys


def main():
    *command, file = sys.argv[1:]
    want = re.match(r"// error: (.*)\n", pathlib.Path(file).read_text())
    run = subprocess.run(
        [*command, "-fsyntax-only", file], capture_output=True, text=True, timeout=500,
        env={**os.environ, "LC_ALL": "C"})
    errors = [line for line in run.stderr.splitlines() if re.search(r"\berror: ", line)]
    if want is None and run.returncode == 0:
        return 0
    if want and run.returncode != 0 and len(errors) == 1 and want[1] in errors[0]:
        return 0
    print(f"{file}: want {'one error that says: ' + want[1] if want else 'no error'}, found",
          *errors or ["none"], sep="\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
