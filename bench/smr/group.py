"""A group of `piracema kv` of three replicas, and programs that load it: for benchmarks."""

import json
import re
import socket
import subprocess
import threading


UNITS = {"KB": 1e3, "MB": 1e6, "GB": 1e9}


def bytes_of(text):
    number, unit = re.fullmatch(r"([0-9.]+)(KB|MB|GB)", text).groups()
    return int(float(number) * UNITS[unit])


def loopback_addresses(count):
    """On ports that are free now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    return addresses


class Group:
    """Replica i is at addresses[i]; inside(i) are the words that put a command in its network."""

    def __init__(self, build, folder, addresses, inside=lambda i: [], checkpoint_every=0):
        self.piracema = build / "tools" / "piracema"
        self.load = build / "bench" / "bench_smr_load"
        self.folder, self.addresses, self.inside = folder, addresses, inside
        self.processes, self.loads = {}, []
        self.config = folder / "group.toml"
        text = f'[group]\nname = "measured"\nfaults = "crash"\nf = 1\nadministrator = "{self.keygen("admin.key")}"\n'
        if checkpoint_every:
            text += f"[settings]\ncheckpoint_every = {checkpoint_every}\n"
        for i in range(3):
            text += self.section(i)
        text += f'[client.1]\npublic_key = "{self.keygen("client.key")}"\n'
        self.config.write_text(text)
        for i in range(3):
            self.start(i)

    def section(self, i):
        return (f'[replica.{i}]\naddress = "{self.addresses[i]}"\n'
                f'public_key = "{self.keygen(f"replica-{i}.key")}"\n')

    def keygen(self, name):
        return subprocess.run([self.piracema, "kv", "keygen", self.folder / name], check=True,
                              capture_output=True, text=True).stdout.strip()

    def start(self, i):
        log = open(self.folder / f"log-{i}", "w")
        self.processes[i] = subprocess.Popen(
            [*self.inside(i), self.piracema, "kv", "replica", "--config", self.config, "--id",
             str(i), "--key", self.folder / f"replica-{i}.key", "--directory",
             self.folder / f"d{i}", "--first-start"], stderr=log)

    def add(self, i):
        with open(self.config, "a") as file:
            file.write(self.section(i) + "added = true\n")
        self.start(i)

    def begin_load(self, state, outstanding, value_bytes):
        """Fills the group, and loads it further after "go": the process, and lines of what it did."""
        process = subprocess.Popen(
            [self.load, "--config", self.config, "--key", self.folder / "client.key", "--state", state,
             "--outstanding", str(outstanding), "--value-bytes", str(value_bytes)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.loads.append(process)
        filled = process.stdout.readline()
        if not filled:
            raise SystemExit("the group could not be filled" + self.said())
        lines = []
        threading.Thread(target=lambda: lines.extend(map(json.loads, process.stdout)),
                         daemon=True).start()
        return process, lines

    def said(self):
        return "".join(f"\n-- {file.name}\n" + "".join(open(file).readlines()[-20:])
                       for file in sorted(self.folder.glob("log-*")))

    def end(self):
        """Those that load it first, or they would count what fails."""
        for load in self.loads:
            load.terminate()
            try:
                load.wait(10)
            except subprocess.TimeoutExpired:
                load.kill()
                load.wait()
        for process in self.processes.values():
            process.kill()
            process.wait()
