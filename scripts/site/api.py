"""Pages of the public headers: what Doxygen reads in them, as Markdown.

One page for each header of include/piracema, its classes and functions in the order of the file.
What is in `detail`, private or deleted is left out: nobody is to use it.
"""

import pathlib
import re
import subprocess
import xml.etree.ElementTree as ElementTree

SETTINGS = """
PROJECT_NAME = Piracema
INPUT = {headers}
RECURSIVE = YES
EXCLUDE_PATTERNS = */detail/*
EXCLUDE_SYMBOLS = *::detail *::detail::* detail
STRIP_FROM_PATH = {headers}
INPUT_FILTER = "python3 -B {filter}"
OUTPUT_DIRECTORY = {output}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
AUTOLINK_SUPPORT = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = PIRACEMA_CKPT_FUNCTION=
WARN_AS_ERROR = FAIL_ON_WARNINGS
"""

# C has no namespaces: there it stands before the first line for the preprocessor.
COMMENT_BEFORE_NAMESPACE = re.compile(r"((?:^///.*\n)+)(?=namespace |\n#ifdef )", re.MULTILINE)
LINE_OF_COMMENT = re.compile(r"^\s*///.*$", re.MULTILINE)


def for_doxygen(text):
    """A header as Doxygen is to see it: what stands over its namespace is said of the file, which is
    one of many with this namespace, and no character of a comment is one of its commands."""
    def plain(line):
        if re.match(r"\s*///     ", line[0]):
            return line[0]  # A line of code.
        pieces = re.split(r"(`[^`]*`)", line[0])
        return "".join(p if p.startswith("`") else re.sub(r"([@\\#%<>&])", r"\\\1", p) for p in pieces)

    text = LINE_OF_COMMENT.sub(plain, text)
    return COMMENT_BEFORE_NAMESPACE.sub(r"/// @file\n///\n\1\n", text, count=1)


def read(headers, folder):
    """Has Doxygen read the headers into `folder`; what it complains of is a ValueError."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "Doxyfile"
    settings.write_text(SETTINGS.format(headers=headers, output=folder, filter=pathlib.Path(__file__)))
    done = subprocess.run(["doxygen", settings], capture_output=True, text=True, timeout=300)
    if done.returncode != 0 or "warning:" in done.stderr:
        raise ValueError(f"doxygen complains:\n{done.stderr}")
    return [ElementTree.parse(path).getroot() for path in sorted((folder / "xml").glob("*.xml"))]


# Comments to Markdown.

INLINE = {"computeroutput": "`", "bold": "**", "emphasis": "*"}
MARKS = {"ndash": "–", "mdash": "—", "nonbreakablespace": " ", "linebreak": "\n", "sp": " "}


def words(element):
    """Text of an element and of all in it, on one line."""
    out = [escaped(element.text)]
    for child in element:
        if child.tag in INLINE:
            mark = INLINE[child.tag]
            out.append(mark + "".join(child.itertext()) + mark)
        elif child.tag in MARKS:
            out.append(MARKS[child.tag])
        else:
            out.append(words(child))
        out.append(escaped(child.tail))
    return "".join(out)


def escaped(text):
    return re.sub(r"([<*_\[\]])", r"\\\1", text or "")


def code_of(element):
    lines = []
    for line in element.iter("codeline"):
        text = []
        for part in line.iter():
            text.append(" " if part.tag == "sp" else (part.text or ""))
            if part is not line:
                text.append(part.tail or "")
        lines.append("".join(text).rstrip())
    return "\n".join(lines)


BLOCKS = {"itemizedlist", "orderedlist", "programlisting", "verbatim", "simplesect", "preformatted"}


def blocks(element):
    """A description as blocks of Markdown."""
    if element is None:
        return
    for para in element:
        if para.tag != "para":
            yield from blocks(para)
            continue
        line = ElementTree.Element("para")
        line.text = para.text
        for child in para:
            if child.tag not in BLOCKS:
                line.append(child)
                continue
            if words(line).strip():
                yield " ".join(words(line).split())
            line = ElementTree.Element("para")
            line.text = child.tail
            if child.tag in ("itemizedlist", "orderedlist"):
                mark = "- " if child.tag == "itemizedlist" else "1. "
                items = [" ".join(" ".join(blocks(item)).split()) for item in child]
                yield "\n".join(mark + item for item in items)
            elif child.tag == "simplesect":
                yield from blocks(child)
            else:
                text = code_of(child) if child.tag == "programlisting" else "".join(child.itertext())
                yield "```cpp\n" + text.strip("\n") + "\n```"
        if words(line).strip():
            yield " ".join(words(line).split())


def said(member):
    return [*blocks(member.find("briefdescription")), *blocks(member.find("detaileddescription"))]


# Declarations.


def flat(element):
    return "" if element is None else " ".join("".join(element.itertext()).split())


def template_of(element):
    found = element.find("templateparamlist")
    if found is None:
        return ""
    parts = []
    for one in found.findall("param"):
        name, value = flat(one.find("declname")), flat(one.find("defval"))
        text = flat(one.find("type"))
        if name and not re.search(rf"\b{re.escape(name)}$", text):
            text += " " + name
        parts.append(text + (f" = {value}" if value else ""))
    return f"template <{', '.join(parts)}>\n"


def declaration(member):
    """One line of C++, spaced as the headers are."""
    text = written(member)
    text = re.sub(r"< | (?=>)|(?<=>) (?=>|::)", lambda m: m[0].strip(), text)
    text = re.sub(r" ([&*]+)(?=[\w,)>])", r"\1 ", text)
    text = re.sub(r"([&*]) (?=[,)>])", r"\1", text)
    text = re.sub(r" ([&*]+) (?=\w)", r"\1 ", text)
    return re.sub(r"(?<=[\w\]&*])=(?=[\w{:\"-])", " = ", text)


def written(member):
    kind, name = member.get("kind"), flat(member.find("name"))
    if kind == "enum":
        values = [flat(v.find("name")) + (" " + flat(v.find("initializer"))).rstrip()
                  for v in member.findall("enumvalue")]
        strong = "class " if member.get("strong") == "yes" else ""
        return f"enum {strong}{name} {{ {', '.join(values)} }};"
    typed = flat(member.find("type"))
    if kind == "typedef":
        return f"{template_of(member)}using {name} = {typed};"
    if kind == "variable":
        value = flat(member.find("initializer"))
        static = "static " if member.get("static") == "yes" and "static" not in typed else ""
        return f"{static}{typed} {name}{flat(member.find('argsstring'))}{' ' + value if value else ''};"
    arguments = re.sub(r"=(default|delete|0)$", r"= \1", flat(member.find("argsstring")))
    head = "explicit " if member.get("explicit") == "yes" else ""
    head += "static " if member.get("static") == "yes" else ""
    head += "virtual " if member.get("virt") in ("virtual", "pure-virtual") and "override" not in arguments else ""
    return f"{template_of(member)}{head}{typed + ' ' if typed else ''}{name}{arguments};".replace("&  &", "&&")


def is_public(member):
    arguments = flat(member.find("argsstring"))
    return (member.get("prot", "public") == "public" and not arguments.endswith(("=delete", "= delete"))
            and member.get("kind") in ("function", "variable", "typedef", "enum")
            and not re.match(r"serialize$", flat(member.find("name")))
            and not (flat(member.find("name")).startswith("operator=")))


def is_of_c(member):
    """In no namespace, as all of C is."""
    return is_public(member) and member.get("kind") in ("function", "enum") and "::" not in flat(member.find("qualifiedname"))


def place(element):
    """Header and line of a declaration."""
    location = element.find("location")
    return ("", 0) if location is None else (location.get("file", ""), int(location.get("line", 0)))


def of_member(member):
    yield "```cpp\n" + declaration(member) + "\n```"
    yield from said(member)
    for value in member.findall("enumvalue"):
        text = " ".join(said(value))
        if text:
            yield f"- `{flat(value.find('name'))}`: {text}"


def of_class(compound):
    short = flat(compound.find("compoundname")).removeprefix("piracema::")
    yield f"## {re.sub(r'< .*', '', short)}"
    name = short.rsplit("::", 1)[-1] if "<" not in short else short
    yield f"```cpp\n{template_of(compound)}{compound.get('kind')} {name};\n```"
    yield from said(compound)
    members = [m for m in compound.iter("memberdef") if is_public(m)]
    for member in sorted(members, key=place):
        yield from of_member(member)


def pages(headers, folder):
    """Name and Markdown of the page of each header."""
    parts, heads = {}, {}
    for root in read(headers, folder):
        for compound in root.findall("compounddef"):
            kind = compound.get("kind")
            file, line = place(compound)
            name = flat(compound.find("compoundname"))
            if kind == "file":
                heads[file] = said(compound)
                for member in filter(is_of_c, compound.iter("memberdef")):
                    parts.setdefault(file, []).append((place(member)[1], flat(member.find("name")), member))
            elif kind in ("class", "struct") and compound.get("prot", "public") == "public" and "detail::" not in name:
                parts.setdefault(file, []).append((line, name, compound))
            elif kind == "namespace" and not name.endswith("detail") and "detail::" not in name:
                for member in filter(is_public, compound.iter("memberdef")):
                    where, at = place(member)
                    short = f"{name}::{flat(member.find('name'))}".removeprefix("piracema::")
                    parts.setdefault(where, []).append((at, short, member))
    for file in sorted(heads):
        found = sorted(parts.get(file, []), key=lambda part: part[:2])
        if not found and not heads[file]:
            continue
        text = [f"# {file}", f"```cpp\n#include <{file}>\n```", *heads[file]]
        before = None
        for _, name, element in found:
            if element.tag == "compounddef":
                text += of_class(element)
                before = None
                continue
            if name != before:
                text.append(f"## {name}")
            before = name
            text += of_member(element)
        yield file, "\n\n".join(text) + "\n"


if __name__ == "__main__":
    import sys
    # Doxygen asks for each header so; INPUT_FILTER names this file.
    sys.stdout.write(for_doxygen(pathlib.Path(sys.argv[1]).read_text()))
