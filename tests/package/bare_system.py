"""A bare root file system of the release that this machine runs, made from its own mirrors."""

import fcntl
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess

# What a user's programs are built with; nothing that our packages have to bring themselves.
PACKAGES = ["cmake", "g++", "make", "pkg-config"]
MIRROR = "deb $(REPO_URI) $(RELEASE) $(COMPONENT)|$(ORIGIN)|$(RELEASE)"


class CannotRun(Exception):
    """This machine is not one on which a bare system can be made; the text says why."""


def release():
    """The distribution and the code name of its release: ("debian", "bookworm")."""
    found = platform.freedesktop_os_release()
    if found.get("ID") not in ("debian", "ubuntu") or not found.get("VERSION_CODENAME"):
        raise CannotRun("want a Debian or Ubuntu with a code name")
    return found["ID"], found["VERSION_CODENAME"]


def mirrors(distribution, codename):
    """The lines of a sources.list for this release that the machine's own apt has."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", MIRROR, "Created-By: Packages"],
        capture_output=True, text=True, check=True,
    ).stdout
    lines = set()
    for row in listed.splitlines():
        line, origin, suite = row.split("|")
        if origin.lower() in ("", distribution) and suite.split("-")[0] == codename:
            lines.add(line)
    if not lines:
        raise CannotRun(f"apt has no mirror of {distribution} {codename}")
    return sorted(lines)


def cache_directory():
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    directory = home / "piracema"
    (directory / "archives/partial").mkdir(parents=True, exist_ok=True)
    return directory


class BareSystem:
    """Unpacked into a directory, with what it needs of this machine mounted there. The caller has a
    mount namespace of its own, with which the mounts go."""

    def __init__(self, work):
        self.root = work / "root"
        distribution, codename = release()
        sources = mirrors(distribution, codename)
        # How this machine's apt gets files: proxies, whether it looks at dates.
        self.apt = work / "apt.conf"
        self.apt.write_text(
            subprocess.run(
                ["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=True
            ).stdout
        )
        recipe = hashlib.sha256("\n".join([*sources, *PACKAGES]).encode()).hexdigest()[:12]
        base = cache_directory() / f"bare-{codename}-{recipe}.tar"
        if not base.exists():
            self._make(base, codename, sources)
        self.root.mkdir()
        subprocess.run(["tar", "-C", self.root, "-xf", base], check=True)
        for name in ("resolv.conf", "hosts"):
            if pathlib.Path("/etc", name).exists():
                (self.root / "etc" / name).unlink(missing_ok=True)
                shutil.copy(f"/etc/{name}", self.root / "etc" / name)
        self._mount()

    def _make(self, base, codename, sources):
        print(f"making {base}: the first time takes a few minutes", flush=True)
        if not shutil.which("mmdebstrap"):
            raise CannotRun("want mmdebstrap: scripts/setup --with-packages")
        unfinished = base.with_suffix(f".{os.getpid()}.tar")
        command = [
            "mmdebstrap", "--quiet", "--mode=root", "--variant=apt",
            f"--include={','.join(PACKAGES)}", f"--aptopt={self.apt}", codename, unfinished, "-",
        ]
        try:
            made = subprocess.run(
                command, input="\n".join(sources) + "\n", capture_output=True, text=True
            )
            if made.returncode != 0:
                raise CannotRun(f"mmdebstrap made no bare system:\n{made.stderr[-2000:]}")
            # It has this machine's way to its mirrors, which may be by a proxy with a password.
            unfinished.chmod(0o600)
            unfinished.rename(base)
        finally:
            unfinished.unlink(missing_ok=True)

    def _mount(self):
        for name in ("null", "zero", "full", "random", "urandom", "tty"):
            device = self.root / "dev" / name
            device.touch()
            subprocess.run(["mount", "--bind", f"/dev/{name}", device], check=True)
        (self.root / "dev/shm").mkdir(exist_ok=True)
        archives = self.root / "var/cache/apt/archives"
        for words in (
            ["-t", "proc", "proc", self.root / "proc"],
            ["-t", "tmpfs", "shm", self.root / "dev/shm"],
            ["--bind", cache_directory() / "archives", archives],
        ):
            subprocess.run(["mount", *words], check=True)

    def run(self, *words, directory="/root", check=True, timeout=300):
        """The end of a command within; its errors come with what it wrote."""
        inner = ["chroot", self.root, "/bin/sh", "-c", 'cd "$0" && exec "$@"', directory, *words]
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
            **{key: value for key, value in os.environ.items() if key.lower().endswith("_proxy")},
        }
        done = subprocess.run(
            inner, capture_output=True, text=True, timeout=timeout, env=environment
        )
        if check and done.returncode != 0:
            raise AssertionError(
                f"{' '.join(map(str, words))}: exit code {done.returncode}\n"
                f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
            )
        return done

    def apt_get(self, *words):
        options = ["Dpkg::Options::=--force-unsafe-io", "APT::Keep-Downloaded-Packages=true"]
        given = [word for option in options for word in ("-o", option)]
        # The files that apt has got serve every run of this test, one at a time.
        with open(cache_directory() / "archives.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self.run("apt-get", "-q", "-y", *given, *words)

    def files(self):
        """Every path but those of apt's and dpkg's own books, logs and caches, and of our tests."""
        books = (
            "var/lib/apt", "var/lib/dpkg", "var/cache", "var/log", "etc/apt", "etc/ld.so.cache",
            "proc", "dev", "root", "tmp",
        )
        found = set()
        for folder, folders, names in os.walk(self.root):
            here = os.path.relpath(folder, self.root)
            inside = [os.path.normpath(os.path.join(here, name)) for name in folders]
            folders[:] = [name for name, path in zip(folders, inside) if path not in books]
            here_too = [*folders, *names]
            found.update(os.path.normpath(os.path.join(here, name)) for name in here_too)
        return {path for path in found if path not in books}
