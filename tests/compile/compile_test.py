#!/usr/bin/env python3
"""A program that puts blocks together wrongly gets one line from the compiler that says why.

    compile_test.py COMPILER OPTION… FILE

Compiles FILE. Where its first line is "// error: TEXT", exactly one error has to come out, and
it says TEXT; where it is "// first error: TEXT" the first one says it, whatever else follows. Where the
next line is "// names: TYPE", that type is named up to there. Else FILE has to compile.
"""

import os
import pathlib
import re
import subprocess
import sys


def main():
    *command, file = sys.argv[1:]
    text = pathlib.Path(file).read_text()
    want = re.match(r"// (first )?error: (.*)\n(?:// names: (.*)\n)?", text)
    run = subprocess.run(
        [*command, "-fsyntax-only", "-Werror=unused-result", file], capture_output=True, text=True, timeout=500,
        env={**os.environ, "LC_ALL": "C"})
    errors = [line for line in run.stderr.splitlines() if re.search(r"\berror: ", line)]
    if want is None and run.returncode == 0:
        return 0
    if want and run.returncode != 0 and (want[1] or len(errors) == 1) and want[2] in errors[0]:
        before = run.stderr[:run.stderr.index(errors[0]) + len(errors[0])]
        if want[3] is None or want[3] in before:
            return 0
        print(f"{file}: want the type {want[3]} named in or before the first error")
    print(f"{file}: want {'an error that says: ' + want[2] if want else 'no error'}, found",
          *errors or ["none"], sep="\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
