"""The stock of what the five papers measured: every table and figure that holds results, with what
makes it here, and what differs from the paper's experiment.

A figure with several experiments in it counts as several: Fig. 3 of paper 000 has four, its Fig. 4
two, Fig. 9 of paper 004 four. Drawings of architectures, programs and algorithms are no results and
do not count, but for the trees of paper 001, which its algorithms made.

docs/papers.md shows this table; stock_test.py holds it to that.
"""

import dataclasses

# Of the words of a command: {build} is the folder of a release build, {out} that of the results.


@dataclasses.dataclass(frozen=True)
class Command:
    """What runs a script of bench/. Several figures may come from one run of it."""

    name: str     # Of its folder of results.
    script: str
    words: tuple  # Of a full run.
    quick: tuple  # Behind these, or in their place where `quick_alone`.
    quick_alone: bool = False
    brief: bool = False  # A quick run takes seconds, on busy cores too, and needs no root.

    def line(self, quick=False):
        """The script and its words, not filled in yet."""
        return (self.script, *(() if quick and self.quick_alone else self.words),
                *(self.quick if quick else ()))


@dataclasses.dataclass(frozen=True)
class Result:
    """A table or figure, its command, and what that leaves in its folder."""

    name: str
    shows: str     # The paper's caption, in our words.
    differs: str   # From the paper's experiment.
    command: Command
    made: str           # The picture that the command leaves; output.txt where it only prints,
    printed: str = ""   # and these words in it.
    quick: bool = True  # Whether a quick run makes it.


PRINTED = "output.txt"  # What a command prints is kept under this name.

EFFORT = Command("effort", "bench/papers/effort.py", ("--out", "{out}/effort.json"), (), brief=True)


def paper000(figure):
    return Command(f"000-{figure}", "bench/papers/paper000.py",
                   (figure, "--build", "{build}", "--out", "{out}"), ("--quick",))


# Nothing is measured, so a quick run is the full one.
TREES = Command("001-trees", "bench/papers/trees.py", ("{build}", "--out", "{out}"), (), brief=True)
# On trees that stay as they are each broadcast after the changes takes ten seconds, minutes in all: a
# quick run has the one that follows them alone, and no Fig. 7. Both measure Table 1.
COLL = Command("001-broadcasts", "bench/coll/paper.py", ("{build}", "--out", "{out}"), ("--quick",), brief=True)


def ckpt(figure):
    return Command(f"002-{figure}", "bench/ckpt/figures.py", ("{build}", figure, "--out", "{out}"),
                   ("--quick", "--runs", "2"))


SMR = Command("003-execution", "bench/smr/figures.py",
              ("{build}/bench/bench_smr_parallel", "--out", "{out}", "--full", "--minutes", "90"),
              ("{build}/bench/bench_smr_parallel", "--out", "{out}", "--quick"), quick_alone=True, brief=True)


def streams(figure):
    return Command(f"004-{figure}", "bench/streams/figures.py",
                   (figure, "--build", "{build}", "--out", "{out}"), ("--quick",), brief=True)


def applications(letter, figure, shows, differs):
    return Result(f"000-figure-3{letter}", shows,
                  f"{differs}; one host, 3 to 6 processes; the paper's means alone are drawn",
                  paper000(figure), f"paper000_{figure}.svg")


def broadcasts(number, shows, differs, quick=True):
    return Result(f"001-figure-{number}", shows, differs, COLL, f"figure{number}.svg", quick=quick)


def checkpoint(number, shows, differs):
    return Result(f"002-figure-{number}", shows, differs, ckpt(str(number)), f"ckpt_figure_{number}.svg")


def execution(number, shows):
    return Result(f"003-figure-{number}", shows,
                  "3 replicas and 100 clients as there, but all on one machine, whose cores they share; means, not "
                  "peaks; beside it execution alone, without order and clients; of the paper the ratios that its "
                  "text says are drawn, not its curves, whose points it does not tell",
                  SMR, f"figure{number}.svg")


def exchange(part, figure, shows, differs):
    return Result(f"004-figure-9-{part}", shows, differs, streams(figure), f"figure9_{figure}.svg")


def tree(number, shows, differs):
    return Result(f"001-figure-{number}", shows, differs, TREES, f"figure{number}.svg")


ONE_HOST = "groups are processes of one host, not of nodes at 1 Gbit/s"

STOCK = [
    Result("000-table-2", "Lines of code of four applications, by the interface and by hand",
           "our own programs, which also report errors and keep every byte once", EFFORT, PRINTED,
           "Table 2: SLOC"),
    Result("000-table-3", "Halstead's hours of development of the same",
           "our own programs and counter, as the paper names none: compare ratios", EFFORT, PRINTED,
           "Table 3: Halstead"),
    applications("a", "compress", "bzip2 compression: throughput by processes, beside MPI by hand",
                 "text of the machine, as the paper's file is not named"),
    applications("b", "decompress", "bzip2 decompression: the same",
                 "any bzip2 file, its blocks found by their marks"),
    applications("c", "primes", "Prime numbers: the same",
                 "numbers from 1 on, as the interval is not named; besides the paper's twin, one that sends "
                 "1,000 numbers at a time"),
    applications("d", "eyes", "Eye detector: the same",
                 "a drawn clip, and rectangles as text in place of a video"),
    Result("000-figure-4a", "Throughput with a failure after 90 of 100 messages, by interval of snapshots",
           "100 ms for a message, as the paper does not say; it gives no values to be drawn",
           paper000("recovery"), "paper000_recovery.svg"),
    Result("000-figure-4b", "Throughput with a state of 100 MB, by interval of snapshots",
           "a message renews 1 MB of the state, as the paper does not say",
           paper000("overhead"), "paper000_overhead.svg"),
    Result("001-table-1", "Latencies between the six sites",
           "they were given there, and are here; the command has the library measure them on emulated links",
           COLL, PRINTED, "Table 1: milliseconds between sites"),
    Result("001-table-2", "Whole application of 1, 4 and 16 broadcasts, binomial beside two-level",
           "links are emulated and delays overlap", COLL, PRINTED, "Table 2: the whole application"),
    tree(1, "The binomial tree from rank 12", "nothing that we know: the ways to ranks 0 and 8 are those that its text tells"),
    tree(2, "The two-level tree from rank 12", "nothing that we know: the way to rank 0 is the one that its text tells"),
    tree(3, "The minimum spanning tree",
         "within a site all links cost 1 ms, the paper's are near to zero, and the lower rank decides"),
    broadcasts(4, "Two-level beside spanning tree without changes: making the tree, application, difference",
               "links are emulated and delays overlap; our application does not wait for its tree"),
    broadcasts(5, "16 broadcasts after changes of links, least change 10 %, with every part of the time",
               "as Fig. 4; links have new values at once, so that bar is empty; nobody waits while the tree is adapted, so "
               "the application is the sum of the parts"),
    broadcasts(6, "The same, least change 70 %", "as Fig. 5"),
    broadcasts(7, "20 broadcasts with two failures and two recoveries in between",
               "as Fig. 5; which links fail the paper does not say, the four of Fig. 5 do here", quick=False),
    checkpoint(1, "EDP, a sequential program with an image of 380 MB, local and remote file system",
               "a solver of our own with as large an image and address space; the remote file system is a GlusterFS of one "
               "brick behind a link of 110 MB/s each way, not NFS, on this machine's disk as the local one"),
    checkpoint(2, "Phreeqc, a sequential program with an image of 3 MB, the same",
               "a program of our own with as large an image and address space; remote as in Fig. 1"),
    checkpoint(3, "Mandelbrot by size, up to all of the machine's memory",
               "the 2 GB of memory and 4 GB of swap are those of a cgroup, and the swap is a file on the disk that images go "
               "to; two processes; remote as in Fig. 1"),
    checkpoint(4, "Heat2D on 2 to 16 machines that write images of one size at a time to one server",
               "machines are up to 16 network namespaces, each with a client of its own, which share two cores; 50 MB each, as "
               "the paper does not say; remote as in Fig. 1"),
    checkpoint(5, "Ondes3D on 1 to 100 machines, local and remote file system",
               "up to 32 processes on up to 16 network namespaces, a solver of our own, 250 MB of fields; the local file system "
               "is one disk for all; remote as in Fig. 1"),
    checkpoint(6, "Heat2D: size of each process's image, 2 to 32 processes, four sizes of problem",
               "one machine, which sizes do not depend on"),
    checkpoint(7, "Ondes3D: the same, where processes differ", "one machine, and a solver of our own"),
    execution(3, "Linked list: throughput and latency by share of conflicts"),
    execution(4, "Linked list: the same by execution threads"),
    execution(5, "Tuple space: throughput and latency by share of conflicts"),
    execution(6, "Tuple space: the same by execution threads, two ways to say what conflicts"),
    exchange("top-left", "sizes", "Throughput by size of message and of batch, TCP",
             f"{ONE_HOST}; the ideal is a plain socket of ours, not netcat"),
    exchange("top-right", "serialization", "Serialization by cereal beside by hand",
             "nothing but the machine: groups on cores of their own, batches of 1, one host, as there"),
    exchange("bottom-left", "protocols", "TCP beside MPI over TCP", ONE_HOST),
    exchange("bottom-right", "alltoall", "All to all with 16 right workers, by left workers",
             f"{ONE_HOST}; 2 GB from memory over TCP, not 16 GB of a file over MPI"),
    Result("004-figure-10", "Master and workers by grain of task: speed, and tasks of each group",
           f"{ONE_HOST}; 4 groups of 4 workers that sleep, not 16 of 20 that compute; 16 s of tasks, not 100,000",
           streams("grain"), "figure10_grain.svg"),
    Result("004-figure-11", "Word count: throughput by number of groups of sources",
           ONE_HOST + "; drawn in percent of one unbounded source",
           streams("words"), "figure11_words.svg"),
]

# What scripts measure of the papers' matter besides their tables and figures.
BESIDES = [
    Result("001-trees-ours", "The tree of `engine=tree` on the links of Table 1, from rank 12",
           "not in the paper", TREES, "ours.svg"),
    Result("002-restart", "Section 4.4: time of a restart by size of the image",
           "a solver of our own and two processes in place of many; remote as in Fig. 1; the paper has no figure of it, "
           "and its values are drawn", ckpt("restart"), "ckpt_figure_restart.svg"),
    Result("002-windows", "Section 5, left to do there: is a job saved before its window closes?",
           "not in the paper; the first part of each window is left out",
           Command("002-windows", "bench/ckpt/windows.py", ("{build}", "--results", "{out}/windows.jsonl"),
                   ("--windows", "4", "--high", "100", "--lanes", "local")),
           PRINTED, " windows of "),
]


def named(name):
    """The result of this name; ValueError if there is none."""
    for one in [*STOCK, *BESIDES]:
        if one.name == name:
            return one
    raise ValueError(f"want a name that --list tells, or all, found '{name}'")


def label(result):
    """`001-figure-4` as a reader says it: Fig. 4."""
    kind, number, *part = result.name.split("-")[1:]
    return " ".join([{"table": "Table", "figure": "Fig."}[kind], number + (", " + " ".join(part) if part else "")])


def rows(results):
    """The lines of docs/papers.md's table, without its head."""
    for one in results:
        yield f"| {one.name[:3]}, {label(one)} | {one.shows} | `bench/papers/run {one.name}` | {one.differs} |"
