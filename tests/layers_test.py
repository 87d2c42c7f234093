#!/usr/bin/env python3
"""Holds every #include to the layers of the house.

A room is a folder of src/ with a piracema_part; the rooms that it may name are the DEPENDS of that
part, and theirs. FOLDERS lists the folders of a room in their order: a file names its own folder and
those before it; files of the room that are in no folder come last, or where a dot stands. Tests are held to rooms, not to
folders: they may use what stands beside them. Public headers belong to rooms by the table below.
Programs of users (apps/, examples/) see public headers alone, and MPI stays behind the transport,
in the preloaded library and in the hand-written twins.
"""

import pathlib
import re
import sys
import tempfile
import unittest

# The lowest room whose sources a public header needs; a new header has to be put here. A folder
# stands for all of its headers that are not named themselves.
PUBLIC = {
    "base": ["bytes", "ckpt", "detail/ckpt_board", "detail/kept_memory", "detail/restored", "error"],
    "wire": ["batch", "codec", "key"],
    "smr": ["smr"],
    "flow": ["blocks", "building_block", "detail", "event_time", "graph", "groups", "keyed_state", "list_state", "map_state", "window", "window_result", "windows",
             "live_times", "operator", "output", "poll", "sequence"],
    "connect": ["detail/file_share", "detail/journal", "detail/output_file", "detail/own_fd",
                "detail/readiness", "directory", "files", "pipe", "socket"],
    "cluster": ["detail/operator_stages", "operators", "piracema", "run"],
}
ROOM_OF_HEADER = {header: room for room, headers in PUBLIC.items() for header in headers}

# What the folders outside of src/ may name.
TOOLS = ["council", "coll", "ckpt", "jobs"]
USERS = ["apps", "examples"]
MPI_ALLOWED = re.compile(r"src/net/socket/mpi[^/]*|src/coll/mpi/.*|apps/[^/]+/mpi/.*")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
PART = re.compile(r"piracema_part\(\s*(\w+)([^)]*)\)")
KEYWORDS = {"INSTALLED_IN", "FOLDERS", "SOURCES", "DEPENDS", "LIBRARIES", "TESTS", "PURE_TESTS"}
# Tests and what they share.
TEST_FILE = re.compile(r"(.*_)?(test|testing|fixture|test_app|test_support)\.(h|cpp)")


def room_of_header(name):
    """The room of <piracema/NAME>; None if the table does not have it."""
    stem = name.removesuffix(".h")
    return ROOM_OF_HEADER.get(stem) or ROOM_OF_HEADER.get(stem.split("/")[0])


class Room:
    """A piracema_part: the rooms that it names itself, and its folders from the lowest on."""

    def __init__(self, depends=(), folders=()):
        self.depends, self.folders = list(depends), list(folders)

    def floor(self, path):
        """The place in the order of a file of this room, given below the room's folder."""
        folder = path.rpartition("/")[0]
        while folder and folder not in self.folders:
            folder = folder.rpartition("/")[0]
        folder = folder or "."
        return self.folders.index(folder) if folder in self.folders else len(self.folders)


def declared_rooms(root):
    """Folder below src/ -> its Room, as its CMakeLists.txt says."""
    rooms, folder_of = {}, {}
    for file in sorted(root.glob("src/**/CMakeLists.txt")):
        text = re.sub(r"#.*", "", file.read_text())
        for name, arguments in PART.findall(text):
            folder = file.parent.relative_to(root / "src").as_posix()
            section, room = None, Room()
            for word in arguments.split():
                if word in KEYWORDS:
                    section = word
                elif section == "DEPENDS":
                    room.depends.append(word)
                elif section == "FOLDERS":
                    room.folders.append(word)
            rooms[folder], folder_of[name] = room, folder
    for room in rooms.values():
        room.depends = [folder_of[name] for name in room.depends]
    return rooms


def room_of(rooms, path):
    """The room of a file, given below src/; None without one."""
    folder = path.rpartition("/")[0]
    while folder and folder not in rooms:
        folder = folder.rpartition("/")[0]
    return folder or None


def below(rooms, room, path=()):
    """The room and all that it may name."""
    if room in path:
        raise ValueError("the rooms depend in a circle: " + " -> ".join([*path, room]))
    found = {room}
    for other in rooms[room].depends if room in rooms else []:
        found |= below(rooms, other, (*path, room))
    return found


def allowed_rooms(rooms, file):
    """What a source file may name; `file` is relative to the root."""
    top = file.parts[0]
    if top == "src":
        return below(rooms, room_of(rooms, "/".join(file.parts[1:])) or "base")
    if top == "include":
        return below(rooms, room_of_header("/".join(file.parts[2:])) or "base")
    if top == "tools":
        return set().union(*(below(rooms, room) for room in TOOLS))
    return set(rooms) | set(PUBLIC)


def check_floor(rooms, file, name):
    """What is wrong with a file of a room that names another one of it; None if nothing is."""
    own = "/".join(file.parts[1:])
    room = room_of(rooms, own)
    if file.parts[0] != "src" or room != room_of(rooms, name) or TEST_FILE.fullmatch(file.name):
        return None
    here, there = (rooms[room].floor(path[len(room) + 1 :]) for path in [own, name])
    if there > here:
        return f"{name}: is above this file in the order of the folders of '{room}'"
    return None


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
    elif quoted and room_of(rooms, name):
        room = room_of(rooms, name)
        if file.parts[0] in ["include", *USERS]:
            return f'"{name}": a header of ours that users do not have'
    elif quoted and file.parts[0] in ["src", "include"]:
        return f'"{name}": want "room/file.h", and a piracema_part for the room'
    else:
        return None
    if room not in allowed_rooms(rooms, file):
        return f"{name}: belongs to '{room}', which is not among the DEPENDS of this part"
    return check_floor(rooms, file, name) if quoted else None


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
                "piracema_part(wire  # A comment (with brackets)\n FOLDERS low high\n SOURCES b.cpp\n"
                " DEPENDS base)",
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

    def test_a_folder_may_not_name_one_that_comes_after_it(self):
        self.assertEqual([], self.found_in("src/wire/high/b.cpp", '#include "wire/low/b.h"'))
        self.assertEqual([], self.found_in("src/wire/b.cpp", '#include "wire/high/b.h"'))
        self.assertEqual(1, len(self.found_in("src/wire/low/b.cpp", '#include "wire/high/b.h"')))
        self.assertEqual(1, len(self.found_in("src/wire/high/b.h", '#include "wire/b.h"')))

    def test_a_test_may_use_what_stands_beside_it(self):
        self.assertEqual([], self.found_in("src/wire/low/b_test.cpp", '#include "wire/high/b.h"'))
        self.assertEqual(1, len(self.found_in("src/base/a_test.cpp", '#include "wire/b.h"')))

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
        self.assertEqual([], self.found_in("src/net/socket/mpi_world.cpp", "#include <mpi.h>"))

    def test_rooms_in_a_circle_are_refused(self):
        with self.assertRaises(ValueError):
            below({"a": Room(["b"]), "b": Room(["a"])}, "a")


if __name__ == "__main__":
    sys.exit(unittest.main())
