#!/usr/bin/env python3
"""Makes docs/pictures/job.png: the page of a job (piracema run --http) that has lost a process.

    scripts/picture_of_a_job.py [BUILD_DIRECTORY]     default: build/release

The job is examples/04_file_to_file, killed by --kill; the picture is what Chromium shows of it a few seconds
later. Wants scripts/setup --with-http.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "job.png"
SECONDS_MAX = 60


def browser():
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,1000"]:
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(build / "examples" / "04_file_to_file", folder)
        folder.joinpath("numbers.txt").write_text("".join(f"{n}\n" for n in range(100_000, 106_000)))
        job = subprocess.Popen(
            [build / "tools" / "piracema", "run", "-n", "4", "--http", "--snapshots", "snapshots", "--every",
             "500ms", "--kill", "primes.1@20", "./04_file_to_file", "numbers.txt", "primes.txt"],
            cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            page = next(found[0] for line in job.stderr if (found := re.findall(r"http://\S+", line)))
            with browser() as driver:
                driver.get(page)
                deadline = time.monotonic() + SECONDS_MAX
                while "running again after" not in driver.find_element(By.TAG_NAME, "main").text:
                    if time.monotonic() > deadline or job.poll() is not None:
                        sys.exit("picture_of_a_job.py: the job has shown no loss")
                    time.sleep(0.2)
                # A stretch of throughput behind the loss.
                time.sleep(8)
                driver.save_screenshot(str(PICTURE))
        finally:
            job.kill()
            job.wait()
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
