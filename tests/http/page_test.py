#!/usr/bin/env python3
"""The page of a job in a real browser, Chromium without a window: what it shows of a job that loses a
process, by day and by night, on a phone and on a desk, with the keyboard alone, and after the end.
Pictures are left in $PICTURES."""

import os
import pathlib
import shutil
import sys
import unittest

try:
    from selenium import webdriver
except ImportError:
    # Another python3 may come first in PATH than the one that packages are for.
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    webdriver = None

from support import SECONDS_MAX, Job, main, skip

if webdriver:
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

DRIVER = shutil.which("chromedriver")
PICTURES = pathlib.Path(os.environ.get("PICTURES", "."))
KILL = ["--snapshots", "snapshots", "--every", "200ms", "--kill", "work.1@3"]
PAGE_BYTES_MAX = 200_000
# Text that is hard to read has less contrast (WCAG 2, level AA).
CONTRAST_MIN = 4.5

CONTRAST = """
const channel = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const light = rgb => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number);
const behind = node => {
  for (; node; node = node.parentElement) {
    const color = numbers(getComputedStyle(node).backgroundColor);
    if (color.length === 3 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
const poor = [];
for (const node of document.querySelectorAll('h1,h2,p,dt,dd,th,td,summary,pre span,button,text,footer,.phase')) {
  if (!node.textContent.trim() || node.closest('[hidden]')) continue;
  const style = getComputedStyle(node);
  const a = light(numbers(node.namespaceURI.endsWith('svg') ? style.fill : style.color)), b = light(behind(node));
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < arguments[0]) poor.push(node.textContent.slice(0, 30) + ': ' + contrast.toFixed(2));
}
return poor;
"""

NAMELESS = """
const nameless = [];
for (const node of document.querySelectorAll('svg[role=img],[role=region],section,table,button')) {
  const by = node.getAttribute('aria-labelledby');
  const name = node.getAttribute('aria-label') || (by && document.getElementById(by).textContent) ||
    (node.caption && node.caption.textContent) || (node.tagName === 'BUTTON' && node.textContent);
  if (!name) nameless.push(node.outerHTML.slice(0, 60));
}
return nameless;
"""


class Browser:
    def __init__(self, test, width=1280, dark=False):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # Its sandbox wants what containers and root do not have; the page is our own.
        for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", f"--window-size={width},1000"]:
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        test.addCleanup(self.driver.quit)
        self.test, self.width = test, width
        self.size(1000)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def size(self, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": self.width, "height": height, "deviceScaleFactor": 1, "mobile": self.width < 600})

    def open(self, address):
        self.driver.get(address)
        self.wait(lambda: self.count() >= 1)

    def drawn(self, times=1):
        """Once the page was drawn that often, from now on."""
        before = self.count()
        self.wait(lambda: self.count() >= before + times)

    def count(self):
        return int(self.driver.execute_script("return document.body.dataset.drawn || 0"))

    def wait(self, wanted):
        return WebDriverWait(self.driver, SECONDS_MAX, poll_frequency=0.1).until(lambda _: wanted())

    def text(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def texts(self, selector):
        """All of one drawing: a second later elements of before are none any more."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)", selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.size(self.run("return document.documentElement.scrollHeight"))
        self.run("window.dispatchEvent(new Event('resize'))")
        self.driver.save_screenshot(str(PICTURES / f"{name}.png"))
        self.size(1000)

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]


class Page(unittest.TestCase):
    def test_a_loss_on_the_page(self):
        job = Job(self, 30_000, *KILL)
        page = Browser(self)
        page.open(job.entrance())
        # The token is in a cookie now, and not where it is seen.
        self.assertEqual(job.base() + "/", page.driver.current_url)
        page.wait(lambda: page.text("#phase") == "running")
        self.assertEqual("cluster_driver_test_app", page.text("#program"))

        page.wait(lambda: page.all("#failures details"))
        page.wait(lambda: "running again after" in page.text("#failures summary"))
        summary = page.text("#failures summary")
        self.assertIn("work/1", summary)
        self.assertIn("SIGKILL", summary)
        self.assertFalse(page.all("#failures details[open]"))
        page.all("#failures summary")[0].click()
        page.wait(lambda: "First new item out" in page.text("#failures dl"))
        details = page.text("#failures dl")
        for words in ["Noticed by", "the end of its process", "Killed on order", "noticed after",
                      "Went back to", "snapshot ", "Redone", "item", "All ran again", "after "]:
            self.assertIn(words, details)
        page.drawn(2)  # What was opened stays open when it is drawn again.
        self.assertTrue(page.all("#failures details[open]"))

        page.wait(lambda: "work holds the job back" in page.text("#bottleneck"))
        names = page.texts("#graph svg text.name")
        self.assertEqual(["numbers", "work ×3", "lines"], names)
        self.assertEqual(1, len(page.all("#graph svg .box.worst")))
        self.assertEqual(2, len(page.all("#graph svg .edge")))
        cells = page.texts("#nodes tbody tr:nth-child(2) td")
        self.assertEqual("3", cells[0])
        self.assertGreater(int(cells[2].split()[0]), 50, "percent busy")
        self.assertRegex(cells[9], r"\d", "its lag")
        self.assertEqual(2, len(page.all("#throughput polyline")))
        self.assertEqual(1, len(page.all("#throughput .mark")))
        shown = len(page.all("#snapshots .s-good"))
        self.assertGreater(shown, 4)
        self.assertEqual(2, len(page.all("#hosts tbody tr")))
        self.assertIn("is lost", page.text("#log"))
        self.assertNotIn(job.token(), page.run("return document.documentElement.outerHTML"))
        self.assertEqual(5, int(page.text("#replicas-line").split()[0]))
        page.all("#replicas-line")[0].click()
        page.wait(lambda: len(page.all("#replicas tbody tr")) == 5)
        self.assertEqual([], page.complaints())

        # Stop, by the keyboard alone.
        button = page.all("#stop")[0]
        page.run("document.querySelector('.skip').focus()")
        for _ in range(3):
            if page.driver.switch_to.active_element == button:
                break
            page.driver.switch_to.active_element.send_keys(Keys.TAB)
        self.assertEqual(button, page.driver.switch_to.active_element)
        button.send_keys(Keys.ENTER)
        page.wait(lambda: self.alert(page))
        page.driver.switch_to.alert.accept()
        code, said = job.end()
        self.assertEqual(75, code, said)
        # What was known stays to be read.
        page.wait(lambda: page.text("#phase") in ["no answer", "stopped with a snapshot"])
        self.assertTrue(page.all("#failures details[open]"))
        self.assertIn("work", page.text("#nodes"))

    def alert(self, page):
        try:
            return page.driver.switch_to.alert
        except Exception:
            return None

    def test_it_can_be_read_on_a_phone_and_at_night(self):
        job = Job(self, 40_000, *KILL)
        job.wait_for("recovery", "job", lambda found: found["recoveries"] == 1 and found["phase"] == "running")
        for width in [380, 1280]:
            for dark in [False, True]:
                page = Browser(self, width, dark)
                page.open(job.base() + "/")
                page.wait(lambda: page.all("#failures details") and page.all("#throughput polyline"))
                page.run("for (const one of document.querySelectorAll('details')) one.open = true")
                page.drawn(1)
                self.assertEqual(width, page.run("return document.documentElement.scrollWidth"),
                                 "it scrolls sideways")
                self.assertEqual([], page.run(CONTRAST, CONTRAST_MIN), f"width {width}, dark {dark}")
                self.assertEqual([], page.run(NAMELESS))
                page.picture(f"job-{width}-{'dark' if dark else 'light'}")
                self.assertEqual([], page.complaints())
                page.driver.quit()

    def test_a_report_is_the_same_page_without_a_job(self):
        job = Job(self, 1_500, *KILL, "--report", "report.html", http=())
        code, said = job.end()
        self.assertEqual(0, code, said)
        page = Browser(self, 380)
        page.open((job.folder / "report.html").as_uri())
        self.assertEqual("done", page.text("#phase"))
        self.assertEqual("", page.text("#stop"))
        self.assertIn("100 %", page.text("#summary"))
        self.assertIn("work/1", page.text("#failures summary"))
        self.assertIn("Went back to", page.text("#failures dl"))
        self.assertTrue(page.all("#snapshots .s-good"))
        page.run("document.getElementById('replicas-more').open = true")
        page.wait(lambda: len(page.all("#replicas tbody tr")) == 5)
        self.assertEqual("1500", page.run("return String(newest.job.items)"))
        self.assertIn("snapshots", page.text("#settings"))
        self.assertIn("0.1.0", page.text("#footer"))
        self.assertIn("1500 items", page.text("#log"))
        self.assertEqual(380, page.run("return document.documentElement.scrollWidth"))
        self.assertEqual([], page.run("return performance.getEntriesByType('resource').map(one => one.name)"))
        self.assertEqual([], page.complaints())
        page.picture("report-380-light")

    def test_it_is_small_and_asks_nobody_else(self):
        job = Job(self, 20_000)
        page = Browser(self)
        page.open(job.base() + "/")
        page.drawn(2)
        asked = page.run("return performance.getEntriesByType('resource').map(one => [one.name, one.encodedBodySize])")
        self.assertTrue(asked)
        self.assertEqual([], [name for name, _ in asked if not name.startswith(job.base() + "/")])
        files = sum(size for name, size in asked if "/api/" not in name)
        self.assertLess(files + len(job.get("/")), PAGE_BYTES_MAX)
        # Without the token from the address it shows, but does not stop.
        page.all("#stop")[0].click()
        page.wait(lambda: self.alert(page))
        page.driver.switch_to.alert.accept()
        page.wait(lambda: "which has the token" in page.text("#stopped"))
        self.assertIsNone(job.process.poll())


if __name__ == "__main__":
    if webdriver is None or DRIVER is None or shutil.which("chromium") is None:
        skip("there is no Chromium that can be driven: scripts/setup --with-http")
    main()
