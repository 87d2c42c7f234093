"""People who wait for a job of the soak's cluster, whatever happens meanwhile."""

import subprocess
import tempfile
import time

from hosts import CLEAN, SECONDS_MAX


class Users:
    # The control plane is away for a while now and then: for less than they have patience.
    PATIENCE = f"{SECONDS_MAX}s"

    def __init__(self, soak):
        self.soak = soak
        self.processes = []
        self.over_since = None

    def start(self, *words):
        """One who does `piracema cluster` with these words."""
        says = tempfile.TemporaryFile("w+")
        self.soak.addCleanup(says.close)
        process = subprocess.Popen(self.soak.words(*words, timeout=self.PATIENCE), env=CLEAN, text=True,
                                   stdin=subprocess.DEVNULL, stdout=says, stderr=says)
        self.soak.addCleanup(process.wait)
        self.soak.addCleanup(process.kill)
        self.processes.append((words, process, says))
        return process

    def have_ended(self, code):
        """With the job's exit code, all of them, soon after the job."""
        if self.over_since is None:
            self.over_since = time.monotonic()
        living = [words for words, process, _ in self.processes if process.poll() is None]
        if living:
            self.soak.assertLess(time.monotonic() - self.over_since, SECONDS_MAX,
                                 f"the job is over, who waits for it is not: {living} {self.said()}")
            return False
        for words, process, _ in self.processes:
            self.soak.assertEqual(code, process.returncode, f"{words}: {self.said()}{self.soak.said()}")
        return True

    def said(self):
        texts = []
        for words, _, says in self.processes:
            says.seek(0)
            texts.append(f"--- {' '.join(map(str, words))}\n{says.read()[-4_000:]}")
        return "\n".join(texts)
