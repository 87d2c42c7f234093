#!/usr/bin/env python3
"""Builds the site of the documents; called by scripts/docs.

    scripts/site/build.py DIRECTORY

The pages are the Markdown files of the repository at the places that they have there, so a link that
holds on the one holds on the other. Pages of the public headers come from Doxygen, and each program
that a document links to has a page. Whatever mkdocs or Doxygen warns of is an error.
"""

import argparse
import logging
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

try:
    from mkdocs.commands.build import build as build_pages
    from mkdocs.config import load_config
except ImportError:
    # Another python3 may come first in PATH than the one that packages are for.
    if sys.executable != "/usr/bin/python3" and pathlib.Path("/usr/bin/python3").exists():
        import os

        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    sys.exit("scripts/site/build.py: there is no mkdocs: scripts/setup --with-docs")

import api
import links

# Read from the left to the right, and from the top to the bottom. What is not named comes behind its
# neighbours by itself.
MENU = [
    ("Piracema", "README.md"),
    ("Learn", ["docs/install.md", "docs/tutorial.md", "docs/tutorial-*.md", "docs/examples.md", "docs/glossary.md"]),
    ("Products", ["docs/streams.md", "docs/replication.md", "docs/collectives.md", "docs/checkpoints.md", "docs/cluster.md"]),
    ("Look up", ["docs/reference.md", "docs/operations.md", "docs/limits.md", "docs/benchmarks.md",
                 "docs/scale.md", "docs/formats/*.md"]),
    ("C++ API", ["api/README.md", "api/piracema/*.md", "api/piracema/smr/*.md"]),
    ("Understand", ["ARCHITECTURE.md", "docs/design/README.md", "docs/design/0*.md", "docs/papers.md",
                    "docs/papers/*.md"]),
    ("Take part", ["CONTRIBUTING.md", "CHANGELOG.md"]),
]
LINK = re.compile(r"(\]\()([^)#\s:]+)(?=[)#])")
FENCED = re.compile(r"(^ *(```+|~~~+).*?^ *\2 *$)", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^# +(.+?) *$", re.MULTILINE)


def anchor(words, _separator="-"):
    """The anchor of a heading, as GitHub makes it; tests/docs_test.py holds links to the same."""
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def outside_of_code(change, text):
    parts = FENCED.split(text)
    # Each code block is followed by its own fence, which is the second group.
    return "".join(change(part) if i % 3 == 0 else part if i % 3 == 1 else "" for i, part in enumerate(parts))


def lists_apart(text):
    """A list may follow a line of text on GitHub; here there has to be a line between them."""
    out = []
    for line in text.split("\n"):
        is_item = re.match(r"(?:[-*]|\d+\.) ", line)
        if is_item and out and out[-1].strip() and not re.match(r" |[-*] |\d+\. ", out[-1]):
            out.append("")
        out.append(line)
    return "\n".join(out)


def stage(folder):
    """Puts what the site is made of into `folder`."""
    linked = set()
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]):
        name = path.relative_to(ROOT)

        def to_pages(text, folder=path.parent):
            def of(link):
                target = (folder / link[2]).resolve()
                if target.is_file() and (target.suffix in (".cpp", ".h", ".sh") or target.name == "LICENSE"):
                    linked.add(target.relative_to(ROOT))
                    return link[1] + link[2] + ".md"
                return link[0]
            return LINK.sub(of, text)

        text = outside_of_code(lambda part: lists_apart(to_pages(part)), path.read_text())
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name in sorted(linked):
        language = {".cpp": "cpp", ".h": "cpp", ".sh": "sh"}.get(name.suffix, "text")
        page = folder / (str(name) + ".md")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# {name}\n\n```{language}\n{(ROOT / name).read_text()}```\n")
    shutil.copytree(ROOT / "docs/pictures", folder / "docs/pictures", dirs_exist_ok=True)
    for picture in ROOT.glob("docs/papers/**/*.svg"):
        shutil.copy(picture, folder / picture.relative_to(ROOT))
    shutil.copy(HERE / "style.css", folder / "style.css")


def stage_api(folder, doxygen):
    listed = []
    for name, text in api.pages(ROOT / "include", doxygen):
        page = folder / "api" / (name + ".md")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
        listed.append(f"- [{name}]({name}.md)")
    head = ("# C++ API\n\nThe public headers, one page each. What a program made of blocks needs comes with "
            "`piracema/piracema.h`; the operators of paper 000 are in `piracema/operators.h`, replicated state "
            "machines in `piracema/smr/`.\n\n")
    (folder / "api/README.md").write_text(head + "\n".join(listed) + "\n")


def menu(folder):
    """The menu, with every page that is not named in the place of its neighbours."""
    left = {str(path.relative_to(folder)) for path in folder.glob("**/*.md")}
    out = []
    for title, entries in MENU:
        if isinstance(entries, str):
            left.discard(entries)
            out.append({title: entries})
            continue
        found = []
        for pattern in entries:
            for path in sorted(folder.glob(pattern)):
                name = str(path.relative_to(folder))
                if name in left:
                    left.discard(name)
                    found.append({title_of(path, name): name})
        out.append({title: found})
    programs = sorted(name for name in left if not (ROOT / name).is_file())
    if sorted(left) != programs:
        raise ValueError(f"no place in the menu of scripts/site/build.py for {sorted(left - set(programs))}")
    out.append({"Programs": [{name.removesuffix(".md"): name} for name in programs]})
    return out


def title_of(path, name):
    words = HEADING.search(path.read_text())[1].replace("`", "")
    return words.removeprefix("piracema/") if name.startswith("api/") else words


def build(directory):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        stage(folder / "pages")
        stage_api(folder / "pages", folder / "doxygen")
        (folder / "mkdocs.yml").write_text("site_name: Piracema\n")
        config = load_config(
            str(folder / "mkdocs.yml"),
            site_name="Piracema",
            site_url="",
            docs_dir=str(folder / "pages"),
            site_dir=str(directory),
            strict=True,
            use_directory_urls=False,
            nav=menu(folder / "pages"),
            extra_css=["style.css"],
            plugins=["search"],
            extra={"generator": False},
            theme={
                "name": "material",
                # Nothing is asked of another site: pages are read where there is no network.
                "font": False,
                "features": ["navigation.tabs", "navigation.top", "search.suggest", "search.highlight",
                             "content.code.copy"],
                "palette": [
                    {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "indigo",
                     "toggle": {"icon": "material/weather-night", "name": "Dark"}},
                    {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "indigo",
                     "toggle": {"icon": "material/weather-sunny", "name": "Light"}},
                ],
            },
            markdown_extensions=[
                "as_on_github", "pymdownx.highlight", "pymdownx.superfences",
                {"toc": {"slugify": anchor, "permalink": "#", "toc_depth": "2-3"}},
            ],
        )
        shutil.rmtree(directory, ignore_errors=True)
        build_pages(config)
    wrong = list(links.complaints(directory))
    if wrong:
        raise ValueError("\n".join(["the pages have", *wrong]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    try:
        build(arguments.directory.resolve())
    except ValueError as error:
        sys.exit(f"scripts/site/build.py: {error}")


if __name__ == "__main__":
    main()
