"""What the soak runs again and again: jobs of a cluster, and a stream by itself with three coordinators. Each time
what was written is compared with what is written where nothing goes wrong."""

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

from hosts import CLEAN, PIRACEMA, RSH, STREAM
from soak_users import Users
from tally_job import TALLY, expected

HEAT = os.environ.get("HEAT2D_APP", "")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MPI = ["mpirun", "-n", "2", "--oversubscribe", HEAT, "400", "12000", "20"]


class Workload:
    """Something that is run again and again, each time with a number of its own."""

    def __init__(self, soak, name):
        self.soak, self.name = soak, name
        self.rounds = 0
        self.begin()

    def place(self, what):
        return self.soak.folder / f"{self.name}-{self.rounds}-{what}"

    def look(self):
        """Begins the next one once this one is over."""
        if not self.is_over():
            return
        self.check()
        self.rounds += 1
        if time.monotonic() < self.soak.until:
            self.begin()
        else:
            self.soak.running.remove(self)


class ClusterJob(Workload):
    """One of the cluster, by its number."""
    def begin(self):
        self.job = None
        self.submit()

    def submit(self):
        answer = self.soak.call("submit", *self.options(), "--", *self.program())
        # While no majority is there nothing is taken; one that was taken unheard is found by its name.
        if answer.returncode == 0:
            self.job = int(answer.stdout)

    def is_over(self):
        jobs = self.soak.jobs()
        if jobs is None:
            return False
        if self.job is None:
            self.job = next((job["job"] for job in jobs if job["name"] == f"{self.name}-{self.rounds}"), None)
            if self.job is None:
                self.submit()
            return False
        # The list may be from just before it was submitted.
        job = next((job for job in jobs if job["job"] == self.job), None)
        return job is not None and self.ends_as(job)

    def ends_as(self, job):
        """Whether it is over, as it should be."""
        if job["state"] in ("failed", "cancelled"):
            self.wrong(job)
        return job["state"] == "done"

    def wrong(self, job):
        self.soak.fail(f"{self.name}: {job}: {self.soak.call('logs', self.job).stdout}{self.soak.said()}")


class TallyJob(ClusterJob):
    """A stream with states by key over three nodes, which users ask for savepoints and other numbers."""
    ITEMS = 30_000

    def options(self):
        return ("--name", f"{self.name}-{self.rounds}", "--nodes", 3, "--stream", "--snapshots",
                self.place("snapshots"), "--every", "200ms", "--retries", 1_000)

    def program(self):
        return TALLY, self.place("out"), "replicas=3", f"items={self.ITEMS}", "pause_us=500"

    def check(self):
        self.soak.assertEqual(expected(self.ITEMS), self.place("out").read_text())


class StreamJob(ClusterJob):
    """A stream on one node."""
    ITEMS = 40_000

    def options(self):
        return ("--name", f"{self.name}-{self.rounds}", "--slots", 2, "--stream", "--snapshots",
                self.place("snapshots"), "--every", "200ms", "--retries", 1_000)

    def program(self):
        return STREAM, self.place("out"), f"items={self.ITEMS}", "pause_us=300"

    def check(self):
        self.soak.check_stream(self.place("out"), self.ITEMS)


class MpiJob(ClusterJob):
    """An MPI program that knows nothing of being saved, on two nodes and on one in turns."""
    # What criu saves goes on on another host, with that one's clock.
    RIGHT_CLOCK = {"LD_PRELOAD": ""}

    def options(self):
        where = ("--nodes", 2) if self.rounds % 2 == 0 else ("--slots", 2)
        return ("--name", f"{self.name}-{self.rounds}", *where, "--images", self.place("images"), "--every", "3s",
                "--retries", 1_000, *(word for name, value in {**AS_ROOT, **self.RIGHT_CLOCK}.items()
                                      for word in ("--env", f"{name}={value}")))

    def program(self):
        return *MPI[:3], "--map-by", "node", *MPI[3:], self.place("out")

    def check(self):
        self.soak.assertEqual(self.soak.heat, self.place("out").read_text())


class PlainJob(ClusterJob):
    """A job of plain commands, which fails by itself: it ends well at last, or not at all, in turns. Users wait for it
    all the time."""
    FAILS = 2

    def begin(self):
        self.users = Users(self.soak)
        # One that submits it and goes on to wait.
        submitted = self.users.start("submit", "--wait", *self.options(), "--", *self.program())
        self.job, self.submitted = None, submitted

    def submit(self):
        """It was, or is about to be: who does so does not give up."""
        self.soak.assertIsNone(self.submitted.poll(), self.users.said())

    def ends_well(self):
        return self.rounds % 2 == 0

    def options(self):
        return "--name", f"{self.name}-{self.rounds}", "--retries", self.FAILS if self.ends_well() else 1

    def program(self):
        failed = self.place("failed")
        ends = (f"if [ $(cat {failed} 2>/dev/null | wc -l) -lt {self.FAILS} ]; then echo >>{failed}; exit 5; fi; exit 0"
                if self.ends_well() else "exit 7")
        return "sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10; do echo $PIRACEMA_ATTEMPT.$i; sleep 0.2; done; {ends}"

    def is_over(self):
        had = self.job
        is_over = super().is_over()
        if had is None and self.job is not None:
            self.users.start("wait", self.job)
            self.users.start("logs", "-f", self.job)
        return is_over and self.users.have_ended(self.code)

    def ends_as(self, job):
        if job["state"] not in ("done", "failed", "cancelled"):
            return False
        self.code = 0 if job["state"] == "done" else job["code"]
        if (job["state"], job["code"]) != (("done", 0) if self.ends_well() else ("failed", 7)):
            self.wrong(job)
        return True

    def check(self):
        """All of them have ended as it did."""


class CancelledJob(PlainJob):
    """One without an end, which is cancelled some time or other."""

    def begin(self):
        super().begin()
        self.cancel_at = time.monotonic() + self.soak.random.uniform(1, 15)

    def options(self):
        return "--name", f"{self.name}-{self.rounds}", "--retries", 1_000

    def program(self):
        return "sh", "-c", "trap 'exit 9' TERM; while :; do echo $PIRACEMA_ATTEMPT; sleep 0.2; done"

    def ends_as(self, job):
        if job["state"] in ("done", "failed"):
            self.wrong(job)
        if job["state"] != "cancelled":
            if time.monotonic() > self.cancel_at:
                # What was not heard is said again.
                self.soak.call("cancel", self.job)
            return False
        self.code = job["code"] or 1
        return True


class Coordinated(Workload):
    """A stream by itself on hosts of the cluster, with three coordinators; it goes on when two of them were lost."""
    ITEMS = 40_000
    look_at_page_at = 0

    def begin(self):
        self.start()

    def start(self, *options):
        self.errors = open(self.place("errors"), "a")
        self.process = subprocess.Popen(
            [PIRACEMA, "run", "--rsh", RSH, "--hosts", "h4,h5,h6", "-n", "3", "--coordinators", "3", "--snapshots",
             self.place("snapshots"), "--every", "200ms", *options, STREAM, self.place("out"),
             f"items={self.ITEMS}", "pause_us=300"],
            env={**CLEAN, "PIRACEMA_TEST_HOSTS": str(self.soak.folder), "PIRACEMA_TEST_JOB": self.soak.mark,
                 "PIRACEMA_HTTP_FILE": str(self.place("page"))},
            cwd=self.soak.folder, stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors)
        self.soak.addCleanup(self.process.wait)
        self.soak.addCleanup(self.process.kill)
        self.errors.close()

    def look(self):
        if time.monotonic() > self.look_at_page_at:
            self.look_at_page()
            self.look_at_page_at = time.monotonic() + 2
        super().look()

    def look_at_page(self):
        """Whatever has become of its coordinators: it answers in bounded time while the command lives."""
        try:
            address, token = self.place("page").read_text().strip().split("/?token=")
            request = urllib.request.Request(f"{address}/api/v1/job", headers={"Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(request, timeout=30) as response:
                code = response.status
        except urllib.error.HTTPError as error:
            with error:
                code = error.code
        except (FileNotFoundError, ConnectionError, urllib.error.URLError) as gone:
            self.soak.assertNotIsInstance(getattr(gone, "reason", gone), TimeoutError)
            return
        self.soak.assertIn(code, (200, 503))
        self.soak.pages[code] = self.soak.pages.get(code, 0) + 1

    def is_over(self):
        code = self.process.poll()
        if code is None or code == 0:
            return code == 0
        self.soak.assertIn(code, (3, 4, -signal.SIGKILL), self.place("errors").read_text())
        # Others of it may live still, and the directory is theirs until they have ended: then it ends with 3.
        has_some = any(self.place("snapshots").glob("*/manifest.json"))
        self.start(*(["--resume"] if has_some else []))
        return False

    def check(self):
        self.soak.assertTrue(self.place("out").exists(), self.place("errors").read_text())
        self.soak.check_stream(self.place("out"), self.ITEMS)
