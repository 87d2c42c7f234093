#!/usr/bin/env python3
"""Holds every #include to the layers of the house.

A room is a folder of src/; the rooms that it may name are the DEPENDS of its piracema_part, and
theirs. Public headers belong to rooms by the table below. Programs of users (apps/, examples/)
see public headers alone, and MPI stays behind the transport and in the hand-written twins.
"""

import pathlib
import re
import sys
import tempfile
import unittest

# The lowest room whose sources a public header needs; a new header has to be put here. A folder
# stands for all of its headers that are not named themselves.
PUBLIC = {
    "base": ["bytes", "error"],
    "wire": ["batch", "codec"],
    "smr": ["smr"],
    "flow": ["blocks", "detail", "files", "graph", "groups", "operator"],
    "cluster": ["detail/operator_stages", "operators", "piracema", "run"],
}
ROOM_OF_HEADER = {header: room for room, headers in PUBLIC.items() for header in headers}

# What the folders outside of src/ may name.
TOOLS = ["cluster", "smr", "coll", "ckpt"]
USERS = ["apps", "examples"]
MPI_ALLOWED = re.compile(r"src/net/mpi[^/]*|src/coll/.*|apps/[^/]+/mpi/.*")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
PART = re.compile(r"piracema_part\(\s*(\w+)([^)]*)\)")
KEYWORDS = {"SOURCES", "DEPENDS", "LIBRARIES", "TESTS", "PURE_TESTS"}


def room_of_header(name):
    """The room of <piracema/NAME>; None if the table does not have it."""
    stem = name.removesuffix(".h")
    return ROOM_OF_HEADER.get(stem) or ROOM_OF_HEADER.get(stem.split("/")[0])


def declared_rooms(root):
    """Room -> the rooms that it names itself, as its CMakeLists.txt says."""
    rooms = {}
    for file in sorted(root.glob("src/*/CMakeLists.txt")):
        text = re.sub(r"#.*", "", file.read_text())
        for name, arguments in PART.findall(text):
            section, rooms[name] = None, []
            for word in arguments.split():
                if word in KEYWORDS:
                    section = word
                elif section == "DEPENDS":
                    rooms[name].append(word)
    return rooms


def below(rooms, room, path=()):
    """The room and all that it may name."""
    if room in path:
        raise ValueError("the rooms depend in a circle: " + " -> ".join([*path, room]))
    found = {room}
    for other in rooms.get(room, []):
        found |= below(rooms, other, (*path, room))
    return found


def allowed_rooms(rooms, file):
    """What a source file may name; `file` is relative to the root."""
    top = file.parts[0]
    if top == "src":
        return below(rooms, file.parts[1])
    if top == "include":
        return below(rooms, room_of_header("/".join(file.parts[2:])) or "base")
    if top == "tools":
        return set().union(*(below(rooms, room) for room in TOOLS))
    return set(rooms) | set(PUBLIC)


def check_include(rooms, file, quoted, angled):
    """What is wrong with one #include; None if nothing is."""
    name = quoted or angled
    if re.match(r"mpi(-ext)?\.h$", name):
        if MPI_ALLOWED.fullmatch(file.as_posix()):
            return None
        return f"{name}: MPI belongs into src/net/mpi*, src/coll and apps/*/mpi"
    if name.startswith("piracema/"):
        if quoted:
            return f'"{name}": a public header is included as <{name}>'
        room = room_of_header(name.removeprefix("piracema/"))
        if room is None:
            return f"<{name}>: no such public header in the table of tests/layers_test.py"
    elif quoted and name.split("/")[0] in rooms and "/" in name:
        room = name.split("/")[0]
        if file.parts[0] in ["include", *USERS]:
            return f'"{name}": a header of ours that users do not have'
    elif quoted and file.parts[0] in ["src", "include"]:
        return f'"{name}": want "room/file.h", and a piracema_part for the room'
    else:
        return None
    if room not in allowed_rooms(rooms, file):
        return f"{name}: belongs to '{room}', which is not among the DEPENDS of this part"
    return None


def violations(root):
    """One line for each #include that breaks a rule."""
    rooms = declared_rooms(root)
    found = []
    for top in ["src", "include", "tools", *USERS]:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in [".h", ".hpp", ".cpp", ".cc"]:
                continue
            file = path.relative_to(root)
            if top == "include" and room_of_header("/".join(file.parts[2:])) is None:
                found.append(f"{file}: not in the table of tests/layers_test.py")
            text = path.read_text()
            for match in INCLUDE.finditer(text):
                wrong = check_include(rooms, file, *match.groups())
                if wrong:
                    line = text.count("\n", 0, match.start(1 if match[1] else 2)) + 1
                    found.append(f"{file}:{line}: {wrong}")
    return found


class Layers(unittest.TestCase):
    def test_our_rooms_name_only_what_they_may(self):
        found = violations(pathlib.Path(__file__).resolve().parent.parent)
        if found:
            self.fail("\n" + "\n".join(found))


class Rules(unittest.TestCase):
    def found_in(self, name, text):
        """The violations of one file in a house of two rooms, wire above base."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            self.write(root / "src/base/CMakeLists.txt", "piracema_part(base SOURCES a.cpp)")
            self.write(
                root / "src/wire/CMakeLists.txt",
                "piracema_part(wire  # A comment (with brackets)\n SOURCES b.cpp\n DEPENDS base)",
            )
            self.write(root / name, text)
            return violations(root)

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_a_room_may_name_itself_and_what_is_below(self):
        self.assertEqual([], self.found_in("src/wire/b.cpp", '#include "base/a.h"\n#include "wire/b.h"'))
        self.assertEqual([], self.found_in("src/wire/b.cpp", "#include <piracema/error.h>\n#include <map>"))

    def test_a_room_may_not_name_what_is_above(self):
        found = self.found_in("src/base/a.cpp", '\n#include "wire/b.h"\n')
        self.assertEqual(1, len(found))
        self.assertIn("src/base/a.cpp:2: wire/b.h: belongs to 'wire'", found[0])
        self.assertEqual(1, len(self.found_in("src/base/a.h", "#include <piracema/codec.h>")))

    def test_a_header_of_no_room_is_refused(self):
        self.assertEqual(1, len(self.found_in("src/base/a.cpp", '#include "a.h"')))
        self.assertEqual(1, len(self.found_in("src/base/a.cpp", "#include <piracema/new.h>")))
        self.assertEqual(1, len(self.found_in("include/piracema/new.h", "")))

    def test_users_see_public_headers_alone(self):
        self.assertEqual(1, len(self.found_in("include/piracema/error.h", '#include "base/a.h"')))
        self.assertEqual(1, len(self.found_in("apps/x/x.cpp", '#include "base/a.h"')))
        self.assertEqual([], self.found_in("apps/x/x.cpp", '#include <piracema/run.h>\n#include "x.h"'))

    def test_mpi_stays_where_it_belongs(self):
        self.assertEqual(1, len(self.found_in("src/wire/b.cpp", "#include <mpi.h>")))
        self.assertEqual([], self.found_in("apps/x/mpi/x.cpp", "#include <mpi.h>"))
        self.assertEqual([], self.found_in("src/net/mpi_transport.cpp", "#include <mpi.h>"))

    def test_rooms_in_a_circle_are_refused(self):
        with self.assertRaises(ValueError):
            below({"a": ["b"], "b": ["a"]}, "a")


if __name__ == "__main__":
    sys.exit(unittest.main())
