#!/usr/bin/env python3
"""Mistakes are planted where the code says what they are about, and each of them is asked for by a test."""

import pathlib
import re
import tempfile
import unittest

from plant import HEADER, plant

HERE = pathlib.Path(__file__).resolve().parent
# Planted where a defect was mended, and no run of the simulator was asked for them so far.
NOT_SOUGHT = ["asks_founders_alone", "blames_others", "doubles_always", "heartbeats_of_any_view",
              "keep_none_for_others", "silent_if_gone", "wait_for_own_proof", "waits_for_the_past"]
PLANTED = re.compile(r'planted\(\s*"(\w+)"\s*\)')


class Plant(unittest.TestCase):
    def planted(self, mistake, source):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "late.diff"
            file.write_text(mistake)
            return plant(file.parent, {"a.cpp": source})["a.cpp"]

    def test_a_mistake_is_planted_wherever_the_code_has_moved(self):
        mistake = '--- a.cpp\n int f() {\n-  return 1;\n+  return planted("late") ? 2 : 1;\n'
        for before in ["", "// New.\n\n"]:
            self.assertEqual(HEADER + before + 'int f() {\n  return planted("late") ? 2 : 1;\n}\n',
                             self.planted(mistake, before + "int f() {\n  return 1;\n}\n"))

    def test_what_is_not_there_once_or_has_another_name_is_an_error(self):
        mistake = '--- a.cpp\n-  return 1;\n+  return planted("late") ? 2 : 1;\n'
        for source, why in [("  return 3;\n", "found it 0 times"), ("  return 1;\n  return 1;\n", "found it 2 times"),
                            ("  return 1;  // Why.\n", "found it 0 times")]:
            with self.assertRaisesRegex(ValueError, why):
                self.planted(mistake, source)
        with self.assertRaisesRegex(ValueError, "want planted"):
            self.planted(mistake.replace("late", "other"), "  return 1;\n")
        with self.assertRaisesRegex(ValueError, "none of the sources"):
            self.planted(mistake.replace("a.cpp", "b.cpp"), "  return 1;\n")

    def test_each_mistake_is_looked_for_by_a_test_but_for_those_that_are_named_here(self):
        names = {name for file in HERE.glob("mistakes/*.diff") for name in PLANTED.findall(file.read_text())}
        names |= {name for file in HERE.glob("*.cpp") for name in PLANTED.findall(file.read_text())}
        sought = " ".join(file.read_text() for file in HERE.glob("*.cpp") if file.name != "mutants.cpp")
        sought = re.sub(PLANTED, "", sought)
        self.assertGreater(len(names), 60)
        self.assertEqual(NOT_SOUGHT, sorted(name for name in names if f'"{name}"' not in sought))


if __name__ == "__main__":
    unittest.main()
