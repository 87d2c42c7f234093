"""A Slurm of two nodes on this machine: its own munge, slurmctld and two slurmd, without systemd."""

import os
import pathlib
import shutil
import socket
import subprocess

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "scontrol", "srun"]

CONFIGURATION = """
ClusterName=piracema
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SlurmctldPort={ports[0]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SlurmctldParameters=preempt_send_user_signal
SchedulerParameters=bf_interval=1,sched_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
KillWait=5
ReturnToService=2
MpiDefault=none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=1000 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=night Nodes=n1,n2 Default=YES MaxTime=60 PriorityTier=1 PreemptMode=REQUEUE GraceTime=30
PartitionName=day Nodes=n1,n2 MaxTime=60 PriorityTier=10 PreemptMode=OFF
"""


def missing():
    """A program that is not there; nothing if all are."""
    return next((name for name in PROGRAMS if shutil.which(name) is None), None)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    """Runs until `close`. Commands get `environment`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ["state", "spool.n1", "spool.n2", "munge"]:
            (self.folder / name).mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        file = self.folder / "slurm.conf"
        file.write_text(CONFIGURATION.format(host=host, folder=self.folder, ports=free_ports(3)))
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        for path in [self.folder, self.folder / "munge"]:
            path.chmod(0o755)
        self.environment = {"SLURM_CONF": str(file)}
        self.daemons = []
        try:
            self._start("munged", "--force", "--foreground", f"--socket={self.folder}/munge/socket",
                        f"--key-file={key}", f"--pid-file={self.folder}/munge/pid",
                        f"--log-file={self.folder}/munge/log", f"--seed-file={self.folder}/munge/seed")
            self._wait_for(lambda: (self.folder / "munge/socket").exists())
            self._start("slurmctld", "-D", "-f", file)
            for node in ["n1", "n2"]:
                self._start("slurmd", "-D", "-N", node, "-f", file)
            self._wait_for(lambda: self.run("sinfo", "-h", "-o", "%T", "-p", "night").split() == ["idle"])
        except BaseException:
            self.close()
            raise

    def _start(self, *words):
        log = open(self.folder / f"{len(self.daemons)}.out", "w")
        self.daemons.append(subprocess.Popen(list(map(str, words)), env={**os.environ, **self.environment},
                                             stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        log.close()

    def _wait_for(self, done):
        while not done():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    raise AssertionError(f"{daemon.args[0]} has ended: {self.logs()}")

    def logs(self):
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.out")))

    def run(self, *words):
        done = subprocess.run(list(map(str, words)), env={**os.environ, **self.environment},
                              capture_output=True, text=True)
        return done.stdout

    def field(self, job, name):
        for word in self.run("scontrol", "show", "job", job, "-o").split():
            if word.startswith(name + "="):
                return word[len(name) + 1:]
        return None

    def close(self):
        if len(self.daemons) > 1:
            self.run("scancel", "--user=root", "--full")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
