"""Hosts that are network namespaces on one bridge, and jobs that run on them. Wants root, or a
kernel that lets everybody make namespaces; says so and skips where it may not."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import unittest

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
STREAM = os.environ["STREAM_APP"]
RSH = str(pathlib.Path(__file__).resolve().parent / "netns_rsh.sh")
# Nothing that is waited for takes so long, on a machine that has much else to do.
SECONDS_MAX = 300
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}


def sh(*words):
    subprocess.run([str(word) for word in words], check=True)


def in_namespace():
    """Goes on in a network of its own, whose namespaces go with this process."""
    if os.environ.get("PIRACEMA_IN_NAMESPACE") == "1":
        return
    into = ["unshare", "--net", "--mount", "--map-root-user"]
    if os.getuid() == 0:
        into.pop()
    if subprocess.run([*into, "ip", "link", "add", "name", "b0", "type", "bridge"]).returncode != 0:
        print("SKIPPED: this machine does not let us make network namespaces and bridges")
        sys.exit(77)
    os.environ["PIRACEMA_IN_NAMESPACE"] = "1"
    os.execvp(into[0], [*into, sys.executable, "-B", *sys.argv])


def environment_of(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (entry.split(b"=", 1) for entry in text.split(b"\0") if b"=" in entry)
    return {name.decode(errors="replace"): value.decode(errors="replace") for name, value in pairs}


def processes():
    return [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]


def network_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def is_zombie(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def ends_within(seconds, pid):
    """Of any process, not only of a child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


class OnHosts(unittest.TestCase):
    """Hosts h1 to h3, or more, at 10.78.0.1 to 3; the test itself is at 10.78.0.100."""
    HOSTS = 3
    # The switch between them looks at what it passes on.
    switch_filters = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.job_folder = self.folder
        self.mark = f"{os.getpid()}-{self.id()}"
        sh("ip", "link", "set", "lo", "up")
        sh("ip", "link", "add", "name", "bridge", "type", "bridge")
        self.addCleanup(sh, "ip", "link", "del", "bridge")
        sh("ip", "addr", "add", "10.78.0.100/24", "dev", "bridge")
        sh("ip", "link", "set", "bridge", "up")
        names = "127.0.0.1 localhost\n" + "".join(f"10.78.0.{i} h{i}\n" for i in range(1, self.HOSTS + 1))
        (self.folder / "names").write_text(names + "10.78.0.100 h0\n10.78.0.77 h77\n")
        sh("mount", "--bind", self.folder / "names", "/etc/hosts")
        self.addCleanup(sh, "umount", "/etc/hosts")
        self.addCleanup(self.end_all)
        self.holders = {f"h{i}": self.raise_host(i) for i in range(1, self.HOSTS + 1)}

    def raise_host(self, i):
        holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", "sh", "-c", "echo up; read end"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=CLEAN)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        self.addCleanup(holder.stdin.close)
        self.addCleanup(holder.stdout.close)
        holder.stdout.readline()
        sh("ip", "link", "add", "name", f"cable{i}", "type", "veth", "peer", "name", "eth", "netns",
           holder.pid)
        # A namespace is gone some time after its last process; its cable at once.
        self.addCleanup(sh, "ip", "link", "del", f"cable{i}")
        sh("ip", "link", "set", f"cable{i}", "master", "bridge", "up")
        inside = ["nsenter", "--target", holder.pid, "--net", "--uts"]
        sh(*inside, "hostname", f"h{i}")
        sh(*inside, "ip", "link", "set", "lo", "up")
        sh(*inside, "ip", "addr", "add", f"10.78.0.{i}/24", "dev", "eth")
        sh(*inside, "ip", "link", "set", "eth", "up")
        (self.folder / f"h{i}").write_text(str(holder.pid))
        (self.folder / f"tmp-h{i}").mkdir()
        return holder

    def on(self, host, *words, env=CLEAN, **options):
        """Starts something there."""
        words = ["nsenter", "--target", str(self.holders[host].pid), "--net", "--mount", *words]
        process = subprocess.Popen(words, env=env, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def lose(self, host, what):
        """From now on the switch drops what the host sends ("sent"), what comes to it ("received"), or a tenth of
        both ("some"); what takes that back."""
        if not self.switch_filters:
            sets = "".join(f"set {name} {{ type ifname; }}\n" for name in ("sent", "received", "some"))
            rules = {"forward": ("iifname", "oifname"), "input": ("iifname",), "output": ("oifname",)}
            chains = "".join(
                f"chain {hook} {{ type filter hook {hook} priority 0;\n" + "".join(
                    f"{end} @{'sent' if end == 'iifname' else 'received'} drop\n"
                    f"{end} @some numgen random mod 10 == 0 drop\n" for end in ends) + "}\n"
                for hook, ends in rules.items())
            subprocess.run(["nft", "-f", "-"], input=f"table bridge hosts {{ {sets}{chains} }}", text=True, check=True)
            self.switch_filters = True
        element = ("element", "bridge", "hosts", what, f"{{ cable{host[1:]} }}")
        sh("nft", "add", *element)
        return lambda: sh("nft", "delete", *element)

    def narrow(self, host):
        """What comes to the host is 1 Mbit/s at most; what takes that back."""
        at = ("dev", f"cable{host[1:]}", "root")
        sh("tc", "qdisc", "replace", *at, "tbf", "rate", "1mbit", "burst", "16kb", "latency", "400ms")
        return lambda: sh("tc", "qdisc", "del", *at)

    def cut(self, host):
        sh("ip", "link", "set", f"cable{host[1:]}", "down")

    def mend(self, host):
        sh("ip", "link", "set", f"cable{host[1:]}", "up")

    # ---- jobs --------------------------------------------------------------------------------

    def start(self, *words, before=()):
        """A job with JSON lines; `words` are options, the program and its arguments. `before` is put
        before the command."""
        environment = {**CLEAN, "PIRACEMA_TEST_HOSTS": str(self.folder),
                       "PIRACEMA_TEST_JOB": self.mark}
        self.errors = open(self.folder / "errors", "w+")
        self.addCleanup(self.errors.close)
        self.events = []
        self.job = subprocess.Popen(
            [*before, PIRACEMA, "run", "--json", *([] if "--rsh" in words else ["--rsh", RSH]),
             *map(str, words)], env=environment,
            cwd=self.job_folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
            text=True)
        self.addCleanup(self.job.stdout.close)
        self.addCleanup(self.job.wait)
        self.addCleanup(self.job.kill)

    def start_stream(self, *options, items=None, pause_us=200, before=()):
        """Takes a fifth of a millisecond an item; snapshots ten times a second. Without a number of
        items it goes on until it is to finish."""
        self.items = items
        self.start("--snapshots", "snapshots", "--every", "100ms", *options, STREAM, "out",
                   f"until={self.folder}/enough" if items is None else f"items={items}",
                   f"pause_us={pause_us}", before=before)

    def said(self):
        self.errors.flush()
        return (self.folder / "errors").read_text()

    def wait_for(self, name, right=lambda event: True):
        for line in self.job.stdout:
            self.events.append(json.loads(line))
            if self.events[-1]["event"] == name and right(self.events[-1]):
                return self.events[-1]
        self.fail(f"no event '{name}' came: {self.said()}")

    def wait_for_ends(self, find, what):
        """Of all processes that `find` lists, then or later."""
        while left := find():
            for pid in left:
                if not ends_within(SECONDS_MAX, pid):
                    self.fail(f"{what}: {left}: {self.said()}")

    def finish(self, code=0):
        """Goes on to the end; nothing of the job is left on any host then."""
        if code == 0:
            (self.folder / "enough").touch()
        out, _ = self.job.communicate(timeout=SECONDS_MAX)
        self.events += [json.loads(line) for line in out.splitlines()]
        self.assertEqual(code, self.job.returncode, self.said())
        return [e for e in self.events if e["event"] == "summary"][-1] if self.events else None

    def check_output(self, items=None):
        """The same bytes as from one process in which nothing fails."""
        items = items or self.items or self.events[-1]["items"]
        self.assertGreater(items, 0)
        subprocess.run([STREAM, "wanted", f"items={items}"], cwd=self.folder, env=CLEAN,
                       check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), (self.folder / "out").read_bytes())

    def check_nothing_left(self, hosts=("h1", "h2", "h3")):
        self.wait_for_ends(self.of_job, "processes are left")
        for host in hosts:
            self.assertEqual([], os.listdir(self.folder / f"tmp-{host}"))

    def write_hosts(self, *lines):
        """The file of hosts, as an editor writes it."""
        (self.folder / "hosts.new").write_text("".join(line + "\n" for line in lines))
        os.replace(self.folder / "hosts.new", self.folder / "hosts")

    # ---- processes ---------------------------------------------------------------------------

    def of_job(self):
        return [pid for pid in processes()
                if environment_of(pid).get("PIRACEMA_TEST_JOB") == self.mark and not is_zombie(pid)]

    def workers(self):
        """Slot -> (process, host), those that live."""
        networks = {network_of(holder.pid): host for host, holder in self.holders.items()}
        found = []
        for pid in self.of_job():
            environment = environment_of(pid)
            if "PIRACEMA_SLOT" in environment:
                found.append((int(environment["PIRACEMA_SLOT"]), int(environment["PIRACEMA_INCARNATION"]),
                              pid, networks.get(network_of(pid), "h0")))
        # Of two, one that is about to end and its successor, the successor.
        return {slot: (pid, host) for slot, _, pid, host in sorted(found)}

    def agents(self):
        networks = {network_of(holder.pid): host for host, holder in self.holders.items()}
        found = {}
        for pid in self.of_job():
            try:
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if len(command) > 2 and command[1] == b"agent":
                found[networks[network_of(pid)]] = pid
        return found

    def remote_shells(self):
        """The children of the coordinator that lead to other hosts."""
        found = {}
        for pid in self.of_job():
            try:
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if command[0] == b"setsid":
                holder = int(command[command.index(b"--target") + 1])
                found[next(h for h, p in self.holders.items() if p.pid == holder)] = pid
        return found

    def end_all(self):
        for pid in self.of_job():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
