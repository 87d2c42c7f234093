#!/usr/bin/env python3
"""Holds the stock of the papers' tables and figures to docs/papers.md and to the scripts it names, and
bench/papers/run to what it promises."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/papers"))
import shapes  # noqa: E402
import stock  # noqa: E402

RUN = ROOT / "bench/papers/run"
HEADING = "## Tables and figures\n"


def run(*words):
    return subprocess.run([sys.executable, RUN, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60)


class Stock(unittest.TestCase):
    def test_it_has_every_result_of_each_paper_once(self):
        names = [one.name for one in [*stock.STOCK, *stock.BESIDES]]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({"000": 8, "001": 9, "002": 7, "003": 4, "004": 6},
                         collections.Counter(one.name[:3] for one in stock.STOCK))

    def test_the_table_of_the_document_is_the_stock(self):
        text = (ROOT / "docs/papers.md").read_text()
        self.assertIn(HEADING, text)
        section = text.split(HEADING)[1].split("\n## ")[0]
        found = [line for line in section.splitlines() if line.startswith("| 0")]
        self.assertEqual(list(stock.rows(stock.STOCK)), found)
        self.assertIn(f"{len(stock.STOCK)} tables and figures", section)

    def test_each_says_what_differs_and_what_its_command_makes(self):
        for one in [*stock.STOCK, *stock.BESIDES]:
            with self.subTest(one.name):
                self.assertTrue(one.shows and one.differs and one.made)
                self.assertEqual(one.made == stock.PRINTED, one.printed != "")

    def test_each_has_claims_of_its_shape_or_a_reason_why_not(self):
        names = {one.command.name for one in [*stock.STOCK, *stock.BESIDES]}
        self.assertEqual(names, {*shapes.CLAIMS, *shapes.WITHOUT})
        self.assertFalse({*shapes.CLAIMS} & {*shapes.WITHOUT})

    def test_what_is_alike_is_not_one_above_the_other(self):
        self.assertTrue(shapes.less("a", 1, 2).holds)
        self.assertFalse(shapes.less("a", 2, 1).holds)
        self.assertFalse(shapes.less("a", 3.824, 3.825).holds)

    def test_scripts_are_there_can_be_called_and_know_their_options(self):
        for command in {one.command.script: one.command for one in [*stock.STOCK, *stock.BESIDES]}.values():
            with self.subTest(command.name):
                self.assertTrue(os.access(ROOT / command.script, os.X_OK), command.script)
                told = subprocess.run([ROOT / command.script, "--help"], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)
                if told.returncode == 77:  # It says what it misses here.
                    continue
                self.assertEqual(0, told.returncode, told.stdout)
                for word in [*command.line(), *command.line(quick=True)]:
                    if word.startswith("--"):
                        self.assertRegex(told.stdout, rf"(?<!\S|-)\[?{word}\b")


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def plant(self, text):
        """A tree with the program, and one script of its own in place of all others."""
        root = self.out / "tree"
        (root / "bench/papers").mkdir(parents=True)
        for name in ["run", "record.py", "shapes.py", "stock.py"]:
            (root / "bench/papers" / name).write_text((ROOT / "bench/papers" / name).read_text())
        (root / "bench/papers/effort.py").write_text(textwrap.dedent(text))
        with (root / "bench/papers/stock.py").open("a") as file:
            file.write('\nEFFORT = Command("effort", "bench/papers/effort.py", ("{out}",), ("--quick",))\n'
                       'STOCK = [Result("000-table-2", "a", "b", EFFORT, "a.svg"),\n'
                       '         Result("001-table-2", "e", "f", EFFORT, PRINTED, "told", quick=False)]\n')
        with (root / "bench/papers/shapes.py").open("a") as file:
            file.write('\nCLAIMS = {"effort": lambda folder: [less("a picture has some bytes", 0, *read(folder, "a.svg"))]\n'
                       '          if (folder / "a.svg").read_text().startswith("[") else []}\n')

        def planted(*words):
            return subprocess.run([sys.executable, root / "bench/papers/run", *words, "--build", root, "--out",
                                   self.out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        return planted

    def test_the_list_tells_every_name_and_its_script(self):
        told = run("--list")
        self.assertEqual(0, told.returncode)
        lines = told.stdout.splitlines()
        for one in [*stock.STOCK, *stock.BESIDES]:
            self.assertIn(one.name, lines)
            line = lines[lines.index(one.name):]
            self.assertTrue(any(one.command.script in part
                                for part in line[:line.index("")]), one.name)

    def test_wrong_words_are_told_with_what_was_wanted(self):
        for words, wanted in [(["004-figure-12"], "want a name that --list tells, or all, found '004-figure-12'"),
                              ([], "want a name, all or --list"),
                              (["000-table-2", "--build", self.out / "none"], "want a folder of a build, found")]:
            told = run(*words)
            self.assertEqual(2, told.returncode, told.stdout)
            self.assertIn(wanted, told.stdout)

    def test_what_only_a_full_run_makes_says_so(self):
        told = run("001-figure-7", "--quick")
        self.assertEqual(4, told.returncode)
        self.assertIn("001-figure-7 has no quick run", told.stdout)

    def test_what_a_script_makes_and_says_is_kept_with_how_it_was_run(self):
        planted = self.plant("""
            import pathlib, sys
            print("said", sys.argv[2:])
            (pathlib.Path(sys.argv[1]) / "a.svg").write_text("picture")""")
        told = planted("000-table-2", "--quick")
        self.assertEqual(0, told.returncode, told.stdout)
        self.assertEqual("said ['--quick']\n", (self.out / "effort/output.txt").read_text())
        how = json.loads((self.out / "effort/run.json").read_text())
        self.assertEqual((True, 0, ["000-table-2"]), (how["quick"], how["exit_code"], how["results"]))
        self.assertFalse((self.out / "tree/docs").exists())
        self.assertLessEqual({"date", "version", "machine", "load", "seconds"}, set(how))
        told = planted("all", "--quick")
        self.assertEqual(0, told.returncode, told.stdout)
        self.assertIn("1 of 2 made\n0 of 2 skipped\n0 of 2 failed\n1 of 2 without a quick run: 001-table-2\n", told.stdout)

    def test_pictures_that_are_kept_lie_in_the_gallery_with_how_they_were_made(self):
        planted = self.plant("""
            import pathlib, sys
            print("told")
            (pathlib.Path(sys.argv[1]) / "a.svg").write_text(f"picture{len(sys.argv)}")""")
        gallery = self.out / "tree/docs/papers"
        gallery.mkdir(parents=True)
        (gallery / "kept.json").write_text('{"001-table-1": {"date": "before"}}')
        told = planted("000-table-2", "--quick", "--keep")
        self.assertEqual(0, told.returncode, told.stdout)
        self.assertEqual({"000-table-2.svg", "kept.json"}, {path.name for path in gallery.iterdir()})
        kept = json.loads((gallery / "kept.json").read_text())
        self.assertEqual({"date": "before"}, kept["001-table-1"])
        self.assertTrue(kept["000-table-2"]["quick"])
        self.assertLessEqual({"date", "version", "machine", "load", "load_at_end", "command"}, set(kept["000-table-2"]))
        self.assertEqual(0, planted("all", "--keep").returncode)
        self.assertEqual("picture2", (gallery / "000-table-2.svg").read_text())
        self.assertFalse(json.loads((gallery / "kept.json").read_text())["000-table-2"]["quick"])

    def test_a_figure_of_another_shape_has_failed_if_it_is_checked(self):
        planted = self.plant("""
            import pathlib, sys
            (pathlib.Path(sys.argv[1]) / "a.svg").write_text("[-1]")""")
        told = planted("000-table-2", "--quick")
        self.assertEqual(0, told.returncode, told.stdout)
        self.assertIn("IS NOT SO: a picture has some bytes (0 and -1)", told.stdout)
        told = planted("000-table-2", "--quick", "--check", "--keep")
        self.assertEqual(1, told.returncode, told.stdout)
        self.assertIn("effort: FAILED", told.stdout)
        self.assertFalse(json.loads((self.out / "effort/run.json").read_text())["shape"][0]["holds"])
        self.assertFalse((self.out / "tree/docs").exists())
        script = self.out / "tree/bench/papers/effort.py"
        script.write_text(script.read_text().replace("[-1]", "[5]"))
        told = planted("000-table-2", "--quick", "--check")
        self.assertEqual(0, told.returncode, told.stdout)
        self.assertIn("is so: a picture", told.stdout)
        script.write_text(script.read_text().replace("[5]", "[no json]"))
        told = planted("000-table-2", "--quick", "--check")
        self.assertEqual(1, told.returncode, told.stdout)
        self.assertIn("want what shapes.py reads", told.stdout)

    def test_what_is_not_brief_is_left_out_of_a_brief_run_and_told(self):
        planted = self.plant("""
            import pathlib, sys
            (pathlib.Path(sys.argv[1]) / "a.svg").write_text("picture")""")
        told = planted("all", "--quick", "--brief")
        self.assertEqual(77, told.returncode, told.stdout)
        self.assertIn("0 of 2 made", told.stdout)
        self.assertIn("2 of 2 left out: 000-table-2, 001-table-2", told.stdout)
        told = planted("all", "--brief")
        self.assertEqual(2, told.returncode)
        self.assertIn("want --brief with all --quick alone", told.stdout)

    def test_what_failed_is_not_kept(self):
        planted = self.plant("""
            import pathlib, sys
            (pathlib.Path(sys.argv[1]) / "a.svg").write_text("picture")
            raise SystemExit(1)""")
        self.assertEqual(1, planted("000-table-2", "--keep").returncode)
        self.assertFalse((self.out / "tree/docs").exists())

    def test_a_script_that_leaves_an_old_picture_or_prints_no_table_has_failed(self):
        planted = self.plant("print('done')")
        picture = self.out / "effort/a.svg"
        picture.parent.mkdir()
        picture.write_text("old")
        os.utime(picture, (1, 1))
        told = planted("all")
        self.assertEqual(1, told.returncode, told.stdout)
        self.assertIn("effort: want 'told' in output.txt, a.svg in", told.stdout)
        self.assertIn("2 of 2 failed: 000-table-2, 001-table-2", told.stdout)

    def test_scripts_that_fail_and_are_skipped_are_told_apart(self):
        planted = self.plant("raise SystemExit('broken')")
        told = planted("000-table-2")
        self.assertEqual(1, told.returncode)
        self.assertIn("broken\n", told.stdout)
        (self.out / "tree/bench/papers/effort.py").write_text("raise SystemExit(77)")
        self.assertEqual(77, planted("000-table-2").returncode)
        told = planted("all")
        self.assertEqual(77, told.returncode)
        self.assertIn("2 of 2 skipped: 000-table-2, 001-table-2", told.stdout)

    def test_whoever_ends_it_ends_its_script_which_takes_its_things_away(self):
        self.plant("""
            import pathlib, sys, time
            try:
                print("begun", flush=True)
                time.sleep(3600)
            finally:
                (pathlib.Path(sys.argv[1]) / "taken away").touch()""")
        root = self.out / "tree"
        with subprocess.Popen([sys.executable, root / "bench/papers/run", "000-table-2", "--build", root, "--out",
                               self.out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout:
                if line == "begun\n":
                    break
            process.terminate()
            process.communicate(timeout=60)
        self.assertEqual(1, process.returncode)
        self.assertTrue((self.out / "effort/taken away").is_file())


if __name__ == "__main__":
    unittest.main()
