#!/usr/bin/env python3
"""Manual pages and completion say what --help says, and shells take them.

    packaging/help_pages_test.py PIRACEMA
"""

import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import completion
import help_text
import manual

PROGRAM = ""

SAMPLE = """Do a thing
with two lines of text
Usage: piracema thing [OPTIONS] FILE

Positionals:
  FILE TEXT                 The file

Options:
  -h,--help                 Print this help message and exit
  -n,--number UINT:INT in [1 - 9]
                            How many
  --kill OP.REPLICA@PERCENT To see what
                            happens
  --mpi TEXT                openmpi or mpich; default: asks
  --what TEXT               One of many, or none
  --at [=ADDRESS]           Where

.starts with a dot, and a \\ in it

Exit codes: 0 done
  2 usage
"""


class Help(unittest.TestCase):
    def setUp(self):
        self.command = help_text.Command(["thing"], SAMPLE)

    def test_an_entry_is_read_whether_or_not_its_text_has_room_beside_it(self):
        number, kill = self.command.options[1:3]
        self.assertEqual((["-n", "--number"], "UINT"), (number.names, number.value))
        self.assertEqual("How many (1 to 9)", number.text)
        self.assertEqual(("OP.REPLICA@PERCENT", "To see what happens"), (kill.value, kill.text))
        self.assertEqual([("FILE TEXT", "The file")], self.command.positionals)
        self.assertEqual("Do a thing with two lines of text", self.command.about)

    def test_only_a_list_of_words_is_a_choice(self):
        choices = [option.choices() for option in self.command.options]
        self.assertEqual([[], [], [], ["openmpi", "mpich"], [], []], choices)

    def test_what_stands_behind_a_value_that_may_be_missing_is_not_it(self):
        at = self.command.options[-1]
        self.assertEqual((["--at"], "[=ADDRESS]", False), (at.names, at.value, at.takes_next_word))
        self.assertTrue(self.command.options[1].takes_next_word)
        self.assertIn("\\fB\\-\\-at\\fR\\fI[=ADDRESS]\\fR", list(manual.options_of(self.command)))

    def test_help_without_usage_is_refused(self):
        with self.assertRaisesRegex(ValueError, "want a line of usage"):
            help_text.Command(["thing"], "segmentation fault\n")

    def test_roff_does_not_take_text_for_a_request(self):
        name, text = manual.page({("thing",): self.command, (): self.command}, ("thing",), "1.2")
        self.assertEqual("piracema-thing.1", name)
        self.assertIn("\n\\&.starts with a dot, and a \\e in it\n", text)
        self.assertIn(".SH EXIT STATUS\n.nf\n0 done\n  2 usage\n.fi\n", text)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = help_text.read_command(PROGRAM)

    def complete(self, line):
        """What bash offers for the last word of the line."""
        words = shlex.split(line) + ([""] if line.endswith(" ") else [])
        script = completion.bash(self.commands) + (
            f"COMP_WORDS=({' '.join(shlex.quote(word) for word in words)})\n"
            f"COMP_CWORD={len(words) - 1}\n_piracema\n"
            'printf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60
        )
        self.assertEqual("", done.stderr)
        return done.stdout.split()

    def test_every_command_has_its_options_on_a_page(self):
        self.assertLess(30, len(self.commands))
        for words, command in self.commands.items():
            _, text = manual.page(self.commands, words[:1], "0")
            for option in command.options:
                for name in option.names:
                    self.assertIn(f"\\fB{manual.escaped(name)}\\fR", text)

    def test_values_that_are_listed_here_are_in_the_help(self):
        texts = {o.names[-1]: o.text for c in self.commands.values() for o in c.options}
        for option, values in completion.VALUES.items():
            for value in values:
                self.assertIn(value, texts[option])

    def test_bash_offers_commands_options_and_values(self):
        self.assertIn("ckpt", self.complete("piracema "))
        self.assertEqual(["snapshots"], self.complete("piracema sn"))
        self.assertEqual(["replica", "restore", "revoke"], sorted(self.complete("piracema kv re")))
        self.assertEqual(["--transport"], self.complete("piracema run -n 4 --tr"))
        self.assertEqual(["shm"], self.complete("piracema run --transport s"))
        self.assertIn("native", self.complete("piracema coll --engine "))
        self.assertEqual(["--command-within", "--compress", "--criu"], sorted(self.complete("piracema ckpt run --c")))

    def test_what_follows_a_program_is_not_ours_to_complete(self):
        self.assertEqual([], self.complete("piracema run -n 4 ./app --tr"))
        self.assertEqual([], self.complete("piracema coll -- mpirun --"))

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_takes_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "_piracema"
            file.write_text(completion.zsh(self.commands))
            done = subprocess.run(["zsh", "-n", file], capture_output=True, text=True, timeout=60)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_man_has_nothing_to_say_against_a_page(self):
        for words in self.commands:
            if len(words) > 1:
                continue
            _, text = manual.page(self.commands, words, "0")
            with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
                file.write(text)
                file.flush()
                done = subprocess.run(
                    ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", file.name],
                    capture_output=True,
                    text=True,
                    timeout=60,
                    env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
                )
            self.assertEqual((0, ""), (done.returncode, done.stderr))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()
