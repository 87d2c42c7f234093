"""Hosts of a soak that are lent for a while: by a calendar of one short window, or while their user is away. When the
machine is its owner's again, nothing of any job runs there."""

import datetime
import time

from hosts import environment_of


def of_jobs_on(test, host):
    """Processes of the cluster's jobs there."""
    return [pid for pid in test.of_job() if "PIRACEMA_JOB" in environment_of(pid) and test.host_of(pid) == host]


class LentHosts:
    GRACE = 5

    def __init__(self, test, by_user):
        """Those of `by_user` are lent while their user is away."""
        self.test, self.by_user = test, by_user
        # Host -> when its window closes, in seconds since 1970.
        self.closes = {}
        # Hosts whose user is there; and whether the cluster has said so, and nothing of a job was there.
        self.wanted_back = {}
        # How often a host was its owner's again, and nothing ran there: by a window that closed, and by a user.
        self.given_back = {"window": 0, "user": 0}

    def options(self, host):
        """Of `piracema cluster node` there."""
        if host in self.closes:
            return ["--windows", str(self.calendar(host)), "--nice", "0"]
        if host in self.by_user:
            return ["--idle", "1s", "--presence", f"test -e {self.user(host)}", "--grace", f"{self.GRACE}s",
                    "--nice", "0"]
        return []

    def calendar(self, host):
        return self.test.folder / f"windows-{host}"

    def user(self, host):
        return self.test.folder / f"user-{host}"

    def lend(self, host, seconds):
        """What the node is started with from now on; when that window closes."""
        opens = int(time.time()) - 10
        self.closes[host] = opens + 10 + seconds
        of_day = [datetime.datetime.fromtimestamp(at).strftime("%H:%M:%S") for at in (opens, self.closes[host])]
        self.calendar(host).write_text(f"daily {' '.join(of_day)}\n")

    def end(self, host):
        """It is there for good from its next start on."""
        if time.time() >= self.closes.pop(host):
            self.given_back["window"] += 1

    def come_back(self, host):
        self.user(host).touch()
        self.wanted_back[host] = False

    def go_away(self, host):
        self.wanted_back.pop(host)
        self.user(host).unlink()

    def look(self):
        """Nothing of any job is where it may not be any more."""
        for host, closes in self.closes.items():
            if time.time() >= closes:
                self.check_nothing_runs_on(host, f"{time.time() - closes:.2f} s after its window closed")
        waits = [host for host, is_given_back in self.wanted_back.items() if not is_given_back]
        states = self.test.states_of_nodes() if waits else {}
        for host, is_given_back in list(self.wanted_back.items()):
            if is_given_back:
                self.check_nothing_runs_on(host, "while its user is there")
            elif states.get(host) == "not lent":
                self.wanted_back[host] = not of_jobs_on(self.test, host)
                self.given_back["user"] += self.wanted_back[host]

    def check_nothing_runs_on(self, host, when):
        left = of_jobs_on(self.test, host)
        if left:
            words = {pid: self.test.words_of(pid) for pid in left}
            self.test.fail(f"{when}, jobs run on {host}: {words} {self.test.said()}")
