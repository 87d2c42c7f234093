"""What the shape of each figure has to be: who is above whom, never how much or how long.

`claims_of(command, folder)` has what a run of a command has to show, by what it left in its folder. Only
claims that a busy machine does not turn around are here: where the paper's winner wins by few percent, or
by cores that this machine may not have, nothing is claimed. stock.py has the commands; one without claims
is in `WITHOUT`, with the reason.
"""

import dataclasses
import json
import statistics


@dataclasses.dataclass(frozen=True)
class Claim:
    says: str   # Who is above whom, and where the paper or we say so.
    holds: bool
    found: str  # The values.


def less(says, low, high, unit="", apart=0.9):
    """That `low` is below `high`, and by more than two that are alike are by chance."""
    return Claim(says, low < apart * high, f"{low:.4g} and {high:.4g} {unit}".strip())


def read(folder, name):
    return json.loads((folder / name).read_text())


def middle(values):
    return statistics.median(values)


def effort(folder):
    """Paper 000, Tables 2 and 3."""
    for name, variants in read(folder, "effort.json")["applications"].items():
        for key, unit in [("sloc", "lines"), ("hours", "hours")]:
            yield less(f"{name}: fewer {unit} by the interface than with MPI by hand",
                       variants["operators"]["whole"][key], variants["mpi"]["whole"][key], unit, apart=1)


def recovery(folder):
    """Paper 000, Fig. 4a: any interval of snapshots is better than none."""
    points = read(folder, "paper000_recovery.json")["points"]
    for label, point in points.items():
        if label != "none":
            yield less(f"after a failure snapshots every {label} are better than none",
                       middle(points["none"]["percent"]), middle(point["percent"]), "%")


def broadcasts(folder):
    """Paper 001, Table 2, Figs. 4 to 7. The least of repeats: noise only adds."""
    results = read(folder, "paper001.json")

    def before(engine):
        return sum(min(results["before"][engine][f"before_{count}_s"]) for count in [1, 4, 8, 16])

    yield less("Table 2: two levels end before a binomial tree", before("two-level"), before("binomial"), "s")
    # Within their own distance; a difference of 2 ms in 703 is left to the model.
    yield less("Fig. 4: our tree ends before a binomial tree", before("tree"), before("binomial"), "s")
    yield less("Fig. 4: so does the distributed spanning tree", before("mst adap II"), before("binomial"), "s")
    after = results["after"]
    tree = after["tree"]
    static = after["two-level"]["after_16_s"] if "two-level" in after else [tree["model_after"][1]]
    yield less("Figs. 5, 6: 16 broadcasts of a tree that follows its links end before "
               f"{'16' if 'two-level' in after else 'one'} on two levels that do not",
               min(tree["after_16_s"]), min(static), "s")
    for engine in ["mst adap", "mst adap II"]:
        if engine in after and "mst static" in after:
            yield less(f"Fig. 5: so do those of {engine}, and before those of a spanning tree that does not",
                       min(after[engine]["after_16_s"]), min(after["mst static"]["after_16_s"]), "s")
    between = results.get("between", {})
    for engine in ["tree", "mst adap, 0 %", "mst adap II, 0 %"]:
        if engine in between and "two-level" in between:
            yield less(f"Fig. 7: so do 20 with changes in between, of {engine}", sum(between[engine]["between_4_s"]),
                       sum(between["two-level"]["between_4_s"]), "s")


def lines_of(folder, figure):
    """Label -> x -> (low, middle, high), of a figure of paper 002."""
    found = read(folder, f"ckpt_figure_{figure}.json")
    return found, {label: {x: spread for x, *spread in points} for label, points in found["panels"][0][2]}


def least(line):
    """Of repeats, as noise only adds."""
    return min(low for low, _, _ in line.values())


def mapped_or_saved(folder, figure):
    """Paper 002, Figs. 1 and 2. Of local and remote in the second nothing: its image is smaller than what noise adds."""
    found, lines = lines_of(folder, figure)
    part = {1: 0.25, 2: 0.4}[figure]
    yield less(f"section 4.2.1: the image has less than {part:.0%} of the address space", found["image_bytes"],
               part * found["address_space_bytes"], "bytes", apart=1)
    if figure == 1:
        yield less("Fig. 1: the local file system is faster than the remote one", least(lines["local"]),
                   least(lines["remote"]), "s")


def memory(folder):
    """Paper 002, Fig. 3."""
    _, lines = lines_of(folder, 3)
    for store, line in lines.items():
        small, large = min(line), max(line)
        if large > 20 * small:
            yield less(f"Fig. 3, {store}: the largest program takes longer than the smallest", line[small][0],
                       line[large][0], "s")


def writers(folder):
    """Paper 002, Fig. 4: one link for all."""
    _, lines = lines_of(folder, 4)
    label, bound = lines
    line, counts = lines[label], sorted(lines[label])
    yield less(f"Fig. 4: {counts[-1]} hosts take longer than one", line[counts[0]][0], line[counts[-1]][0], "s")
    yield Claim("Fig. 4: nobody is faster than the link",
                all(line[count][0] > 0.9 * lines[bound][count][0] for count in counts),
                ", ".join(f"{line[count][0]:.3g} and {lines[bound][count][0]:.3g}" for count in counts) + " s")


def processes(folder):
    """Paper 002, Fig. 5. Of the knee nothing: hosts share cores and a disk here."""
    found, lines = lines_of(folder, 5)
    total = {int(ranks): size for ranks, size in found["image_bytes"].items()}
    yield less("section 4.3.1: parts of many processes are together larger than the image of one", total[min(total)],
               total[max(total)], "bytes", apart=1)
    most = max(lines["remote"])
    yield less(f"Fig. 5: {most} processes take longer on the remote file system than on the local one",
               lines["local"][most][0], lines["remote"][most][0], "s")


def doubled(folder):
    """Paper 002, Fig. 6: images of twice the problem, but for what any process has."""
    _, lines = lines_of(folder, 6)
    ours = [line for label, line in lines.items() if not label.startswith("the paper")]
    for small, large in zip(ours, ours[1:]):
        few = min(small)
        ratio = large[few][1] / small[few][1]
        yield Claim(f"section 4.3.2: by {few:g} processes twice the problem has images about twice as large",
                    1.5 < ratio < 2.05, f"{ratio:.3g}")
    for line in ours:
        few, many = min(line), max(line)
        yield less(f"Fig. 6: a part of {many:g} is smaller than one of {few:g}", line[many][2], line[few][0], "MB",
                   apart=1)


def uneven(folder):
    """Paper 002, Fig. 7: ranks that hold the basin have more."""
    _, lines = lines_of(folder, 7)
    for label, line in lines.items():
        for ranks, (low, _, high) in line.items():
            yield less(f"Fig. 7, {label} points: of {ranks:g} processes one has more than another", low, high, "MB",
                       apart=1)


def restarts(folder):
    """Paper 002, section 4.4."""
    _, lines = lines_of(folder, "restart")
    for store in ["local", "remote"]:
        small, large = min(lines[store]), max(lines[store])
        if large > 20 * small:
            yield less(f"section 4.4, {store}: the largest image takes longer", lines[store][small][0],
                       lines[store][large][0], "s")


def execution(folder):
    """Paper 003, section 5. Of who wins, threads or one after the other, nothing: that is a matter of cores.
    Nor of three replicas beside four, as a list of 100 k takes longer than its order."""
    rows = read(folder, "figures.json")["rows"]

    def best(**wanted):
        return max(row["ops_per_s"]["max"] for row in rows
                   if row["service"] == "list" and all(row[name] == value for name, value in wanted.items()))

    for what, replicas, clients in [("execution alone", 0, 0), ("3 replicas", 3, 100)]:
        for share in [0, 100]:
            low, high = (best(size=size, conflict_percent=share, replicas=replicas, clients=clients)
                         for size in [100_000, 10_000])
            yield less(f"section 5, {what}: a list of 100 k is slower than one of 10 k, {share} % conflicts",
                       low, high, "1/s")


def sizes(folder):
    """Paper 004, Fig. 9, top left."""
    points = read(folder, "figure9_sizes.json")
    for batch in ["batch 8", "batch 32", "batch by itself"]:
        yield less(f"items of 8 bytes: {batch} is above batch 1", middle(points["8"]["batch 1"]),
                   middle(points["8"][batch]), "MB/s")
    for side in ["batch 1", "batch by itself"]:
        yield less(f"{side}: items of 64 KiB are above those of 8 bytes", middle(points["8"][side]),
                   middle(points["65536"][side]), "MB/s")


def protocols(folder):
    """Paper 004, Fig. 9, bottom left: that TCP and MPI are alike is not claimed, as it is no order. Nor is
    anything of MPI, whose processes spin beside ours on the same cores."""
    points = read(folder, "figure9_protocols.json")
    for side in ["TCP", "shared memory"]:
        yield less(f"{side}: items of 64 KiB are above those of 8 bytes", middle(points["8"][side]),
                   middle(points["65536"][side]), "MB/s")


def serialization(folder):
    """Paper 004, Fig. 9, top right."""
    points = read(folder, "figure9_serialization.json")
    for side in points["512"]:
        yield less(f"{side}: items of 64 KiB are above those of 512 bytes", middle(points["512"][side]),
                   middle(points["65536"][side]), "MB/s")


def words(folder):
    """Paper 004, Fig. 11: below what one unbounded source does throughput grows with the sources."""
    points = read(folder, "figure11_words.json")
    few, some = (middle(points[count]["ours"]) for count in ["1", "4"])
    yield less("four sources are above one", few, some, "k lines/s")


CLAIMS = {"effort": effort, "000-recovery": recovery, "001-broadcasts": broadcasts,
          "002-1": lambda folder: mapped_or_saved(folder, 1), "002-2": lambda folder: mapped_or_saved(folder, 2),
          "002-3": memory, "002-4": writers, "002-5": processes, "002-6": doubled, "002-7": uneven,
          "002-restart": restarts, "003-execution": execution,
          "004-sizes": sizes, "004-protocols": protocols, "004-serialization": serialization,
          "004-words": words}

PERCENTS = "the paper's winner wins by few percent, which a run of ten repeats tells by p"
WITHOUT = {
    "000-compress": PERCENTS, "000-decompress": PERCENTS, "000-primes": PERCENTS, "000-eyes": PERCENTS,
    "000-overhead": PERCENTS,
    "001-trees": "trees.py holds its trees to the paper by itself",
    "002-windows": "each window is met or missed, which the script tells",
    "004-grain": "who has how many tasks turns around where workers share cores with other programs",
    "004-alltoall": "with more left workers than cores nothing grows",
}


def claims_of(command, folder):
    """Of a command's name; none where there is nothing to claim."""
    return list(CLAIMS[command](folder)) if command in CLAIMS else []
