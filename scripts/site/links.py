"""Finds what leads nowhere in a folder of pages: files, anchors, and what other sites would have to give."""

import html.parser
import pathlib
import re
import urllib.parse


class Page(html.parser.HTMLParser):
    """Anchors and links of a page, and what a browser loads with it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = {"", "__skip"}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for name in ("id", "name"):
            if values.get(name) and (name == "id" or tag == "a"):
                self.anchors.add(values[name])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for name in ("src", "srcset", "data"):
            if values.get(name):
                self.loaded.append(values[name].split()[0])
        if tag == "link" and values.get("href") and values.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(values["href"])


def complaints(folder):
    """What is wrong, a line each."""
    folder = pathlib.Path(folder)
    # A page for what is not found is shown at any address, so its links are of the root of a server.
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(folder.glob("**/*.html"))
             if path.name != "404.html"}
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for link in page.loaded:
            if re.match(r"(?:[a-z]+:)?//", link):
                yield f"{name}: asks another site: {link}"
        for link in [*page.links, *page.loaded]:
            if re.match(r"[a-z]+:|//", link):
                continue
            target, _, fragment = link.partition("#")
            target = urllib.parse.unquote(target.partition("?")[0])
            there = (path.parent / target).resolve() if target else path
            if there.is_dir():
                there = there / "index.html"
            if not there.is_file():
                yield f"{name}: a link to nothing: {link}"
            elif there in pages and urllib.parse.unquote(fragment) not in pages[there].anchors:
                yield f"{name}: a link to no anchor: {link}"
    for path in sorted(folder.glob("**/*.css")):
        for link in re.findall(r"url\(\s*[\"']?([^)\"']+)", path.read_text()):
            if re.match(r"(?:https?:)?//", link):
                yield f"{path.relative_to(folder)}: asks another site: {link}"
