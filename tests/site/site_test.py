#!/usr/bin/env python3
"""The site of the documents: it is built without a warning, nothing in it leads nowhere, and every document
can be read in Chromium on a phone and on a desk, by day and by night. Pictures are left in $PICTURES."""

import functools
import html
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
try:
    from selenium import webdriver
    import mkdocs  # noqa: F401
except ImportError:
    # Another python3 may come first in PATH than the one that packages are for.
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    webdriver = None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/site"))
import links

if webdriver:
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

PICTURES = pathlib.Path(os.environ.get("PICTURES", "."))
SKIPPED = 77
SECONDS_MAX = 60
# Text that is hard to read has less contrast (WCAG 2, level AA).
CONTRAST_MIN = 4.5
IN_PICTURES = ["index.html", "docs/reference.html", "docs/benchmarks.html", "api/piracema/blocks.h.html"]

# Blocks that are wider than the page and do not scroll in themselves.
TOO_WIDE = """
const wide = arguments[0], found = [];
for (const node of document.querySelectorAll('.md-content *')) {
  if (node.getBoundingClientRect().right <= wide + 1) continue;
  let scrolls = false;
  for (let one = node; one && one !== document.body; one = one.parentElement)
    if (/auto|scroll|hidden|clip/.test(getComputedStyle(one).overflowX)) scrolls = true;
  if (!scrolls) found.push(node.tagName + ': ' + node.textContent.trim().slice(0, 40));
}
const page = document.scrollingElement;
if (page.scrollWidth > wide) found.push(`the page is ${page.scrollWidth} wide`);
return found;
"""

CONTRAST = """
// Colours as they are in the end, not on their way there.
document.head.appendChild(document.createElement('style')).textContent = '* { transition: none !important }';
const channel = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const over = (text, ground) => {  // A colour as bytes, laid over an opaque one.
  canvas.fillStyle = `rgb(${ground.slice(0, 3)})`; canvas.fillRect(0, 0, 1, 1);
  canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const behind = node => {
  const chain = [];
  for (; node; node = node.parentElement) chain.unshift(getComputedStyle(node).backgroundColor);
  return chain.reduce((ground, color) => over(color, ground), [255, 255, 255]);
};
const seen = new Set(), poor = [];
for (const node of document.querySelectorAll(
    '.md-content h1,.md-content h2,.md-content h3,.md-content p,.md-content li,.md-content td,.md-content th,' +
    '.md-content code,.md-content code span,.md-content p a,.md-header__topic')) {
  if (!node.textContent.trim() || node.closest('[hidden]')) continue;
  const style = getComputedStyle(node);
  if (style.visibility === 'hidden' || style.display === 'none') continue;
  const ground = behind(node), kind = node.tagName + node.className + style.color + ground;
  if (seen.has(kind)) continue;
  seen.add(kind);
  const a = light(over(style.color, ground)), b = light(ground);
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < arguments[0])
    poor.push(`${node.tagName}.${node.className} ${node.textContent.trim().slice(0, 30)}: ${contrast.toFixed(2)}`);
}
return poor;
"""


def skip(why):
    """Says so and ends; where the continuous integration runs what is missing is a failure."""
    print(f"SKIPPED: {why}")
    sys.exit(1 if os.environ.get("CI") else SKIPPED)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        done = subprocess.run([sys.executable, "-B", ROOT / "scripts/site/build.py", cls.folder / "site"],
                              capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise AssertionError(f"the site cannot be built: {done.stdout}{done.stderr}")
        cls.said = done.stderr
        handler = functools.partial(Quiet, directory=str(cls.folder / "site"))
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)
        cls.base = f"http://127.0.0.1:{cls.server.server_address[1]}/"
        cls.pages = sorted(str(path.relative_to(cls.folder / "site"))
                           for path in (cls.folder / "site").glob("**/*.html") if path.name != "404.html")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # Its sandbox wants what containers and root do not have; the pages are our own.
        for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--window-size=1280,1000"]:
            options.add_argument(word)
        options.page_load_strategy = "eager"  # Style is there then; pictures need not be.
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        cls.addClassCleanup(cls.driver.quit)
        cls.driver.execute_cdp_cmd("Network.enable", {})

    def setUp(self):
        # Every page reads the index of the search, which takes longer than all else: only for those who search.
        searches = "search" in self._testMethodName
        blocked = [] if searches else ["*search_index.json"]
        self.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": blocked})

    def look(self, page, width, dark=False, height=1000):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        # What was chosen for the page before is forgotten, so the system's choice holds.
        if self.driver.current_url.startswith(self.base):
            self.driver.execute_script("localStorage.clear()")
        self.driver.get(self.base + page)

    def run_in_page(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def test_it_has_all_documents_and_all_public_headers(self):
        documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
        for path in documents:
            name = str(path.relative_to(ROOT).with_suffix(".html"))
            self.assertIn(name.replace("README.html", "index.html"), self.pages)
        headers = [path.relative_to(ROOT / "include") for path in (ROOT / "include").glob("**/*.h")]
        for name in headers:
            if "detail" not in name.parts and name.name != "piracema.h":
                self.assertIn(f"api/{name}.html", self.pages)
        block = (self.folder / "site/api/piracema/building_block.h.html").read_text()
        self.assertIn("Items with equal keys reach the same replica", block)
        # A block of code is as it stands in the header, and what is private is not there.
        blocks = (self.folder / "site/api/piracema/blocks.h.html").read_text()
        self.assertIn("std::int64_t& n", self.plain(blocks))
        self.assertNotIn("BuildingBlock by(", self.plain(block))

    def plain(self, page):
        return html.unescape(re.sub(r"<[^>]*>", "", page))

    def test_no_page_scrolls_sideways_on_a_phone(self):
        # Pages of headers are made by one script: those with long names stand for the others.
        of_headers = {f"api/piracema/{name}.h.html" for name in ["blocks", "keyed_state", "operators", "smr/key_value"]}
        self.assertLessEqual(of_headers, set(self.pages))
        for page in self.pages:
            if page.startswith("api/piracema/") and page not in of_headers:
                continue
            self.look(page, 380)
            self.assertEqual([], self.run_in_page(TOO_WIDE, 380), page)
        complaints = [entry["message"] for entry in self.driver.get_log("browser")]
        self.assertEqual([], [one for one in complaints if "search_index.json" not in one and "fetch" not in one])

    def test_text_can_be_read_by_day_and_by_night(self):
        grounds = set()
        for dark in [False, True]:
            for width in [380, 1280]:
                for page in IN_PICTURES:
                    self.look(page, width, dark)
                    self.assertEqual([], self.run_in_page(CONTRAST, CONTRAST_MIN), f"{page} {width} dark: {dark}")
                    self.assertEqual([], self.run_in_page(TOO_WIDE, width), page)
                    grounds.add((dark, self.run_in_page("return getComputedStyle(document.body).backgroundColor")))
                    PICTURES.mkdir(parents=True, exist_ok=True)
                    name = page.replace("/", "-").removesuffix(".html")
                    self.driver.save_screenshot(
                        str(PICTURES / f"site-{name}-{width}-{'dark' if dark else 'light'}.png"))
        self.assertEqual(2, len(grounds), f"a dark and a light ground: {grounds}")

    def test_its_search_finds_what_stands_in_documents_and_headers(self):
        for words, wanted in [("dead letters", "docs/"), ("Lock acquire", "api/piracema/smr/lock.h.html")]:
            self.look("index.html", 1280)
            field = self.driver.find_element(By.CSS_SELECTOR, "input[data-md-component=search-query]")
            self.driver.find_element(By.TAG_NAME, "body").send_keys("s")
            field.send_keys(words)
            found = WebDriverWait(self.driver, SECONDS_MAX, poll_frequency=0.1).until(
                lambda driver: [a.get_attribute("href") for a in
                                driver.find_elements(By.CSS_SELECTOR, ".md-search-result__link")])
            self.assertTrue(any(wanted in link for link in found), found)


class Links(unittest.TestCase):
    def complaints(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.html").write_text(text)
            (pathlib.Path(folder) / "b.html").write_text('<p id="here"></p>')
            return list(links.complaints(folder))

    def test_what_leads_somewhere_is_left_alone(self):
        self.assertEqual([], self.complaints(
            '<a href="b.html#here"></a><a href="#x" id="x"></a><a href="https://example.org/">e</a>'
            '<img src="b.html"><a href="b.html">b</a>'))

    def test_what_leads_nowhere_is_found(self):
        self.assertEqual(["a.html: a link to nothing: c.html"], self.complaints('<a href="c.html">c</a>'))
        self.assertEqual(["a.html: a link to no anchor: b.html#there"], self.complaints('<a href="b.html#there">b</a>'))
        self.assertEqual(["a.html: a link to no anchor: #x"], self.complaints('<a href="#x">x</a>'))
        self.assertEqual(["a.html: a link to nothing: c.svg"], self.complaints('<img src="c.svg">'))

    def test_what_another_site_has_to_give_is_found(self):
        for text in ['<script src="https://cdn.example/x.js"></script>', '<link rel="stylesheet" href="//fonts.example/">']:
            self.assertEqual(1, len(self.complaints(text)), text)


if __name__ == "__main__":
    if webdriver is None or any(shutil.which(name) is None for name in ["chromium", "chromedriver", "doxygen"]):
        skip("there is no mkdocs, Doxygen or Chromium that can be driven: scripts/setup --with-docs")
    unittest.main(verbosity=2)
