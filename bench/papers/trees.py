#!/usr/bin/env python3
"""Draws Figs. 1 to 3 of paper 001, and our tree for the same links, from what the code computes.

    bench/papers/trees.py BUILD_DIRECTORY --out FOLDER     draws figure1.svg to figure3.svg, ours.svg
    bench/papers/trees.py BUILD_DIRECTORY --check FOLDER   holds the trees to what the paper says of
                                                           them, and its pictures to the code

Links are those of the paper's Table 1, the root is its rank 12. Times are the model's: each message
keeps its sender busy for 0.05 ms and takes the latency of its link. No time is measured, so every
machine draws the same pictures. --check takes pictures by the names that docs/papers has them under.

Exit code: 0 if they were drawn or are right, 1 if not, 2 for wrong words.
"""

import argparse
import json
import pathlib
import subprocess
import sys

COLORS = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2"]
STEP, LEVEL, RADIUS, MARGIN, HEAD = 40, 84, 14, 30, 92

# Picture's name, its name in docs/papers, tree, title.
PICTURES = [
    ("figure1", "001-figure-1", "binomial", "Fig. 1: binomial tree, as MPICH makes it"),
    ("figure2", "001-figure-2", "two-level", "Fig. 2: two-level tree, as MagPIe makes it"),
    ("figure3", "001-figure-3", "spanning", "Fig. 3: minimum spanning tree, found by the distributed protocol"),
    ("ours", "001-trees-ours", "ours", "Ours: the tree of engine=tree, made to complete early"),
]


def edges(tree):
    """(parent, child), parents first to last."""
    return [(parent, child) for parent, children in enumerate(tree["children"]) for child in children]


def between_sites(told, tree):
    return [(a, b) for a, b in edges(tree) if told["site_of"][a] != told["site_of"][b]]


def places(told, tree):
    """Where each rank is drawn: a column for each leaf, parents in the middle of their children."""
    at, column = {}, 0

    def put(rank, level):
        nonlocal column
        children = tree["children"][rank]
        for child in children:
            put(child, level + 1)
        if not children:
            x, column = MARGIN + column * STEP, column + 1
        else:
            x = (at[children[0]][0] + at[children[-1]][0]) / 2
        at[rank] = x, HEAD + level * LEVEL

    put(told["root"], 0)
    return at


def draw(told, tree, title):
    at = places(told, tree)
    sites = sorted(set(told["site_of"]))
    width = max(max(x for x, _ in at.values()) + MARGIN, 640)
    height = max(y for _, y in at.values()) + MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
           f'height="{height:.0f}" font-family="sans-serif" font-size="12" role="img">',
           f"<title>{title}</title>", '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{MARGIN / 2:.0f}" y="18" font-weight="bold">{title}</text>',
           f'<text x="{MARGIN / 2:.0f}" y="36">last rank after {tree["completion_ms"]:.1f} ms, bound '
           f'{told["bound_ms"]:.1f} ms; {len(between_sites(told, tree))} messages between sites, '
           f'in red their latency in ms</text>']
    for number, site in enumerate(sites):
        ranks = [rank for rank, of in enumerate(told["site_of"]) if of == site]
        x = MARGIN / 2 + 104 * number
        out.append(f'<circle cx="{x + 6:.0f}" cy="52" r="6" fill="{COLORS[site]}"/>'
                   f'<text x="{x + 16:.0f}" y="56">S{site}: {ranks[0]} to {ranks[-1]}</text>')
    for parent, child in edges(tree):
        (x1, y1), (x2, y2) = at[parent], at[child]
        far = told["site_of"][parent] != told["site_of"][child]
        look = 'stroke="#c00" stroke-width="2"' if far else 'stroke="#999"'
        out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {look}/>')
    for parent, child in between_sites(told, tree):
        x, y = at[child]
        out.append(f'<text x="{x:.1f}" y="{y - RADIUS - 5:.1f}" text-anchor="middle" font-size="11" fill="#c00" '
                   f'stroke="white" stroke-width="3" paint-order="stroke">'
                   f'{told["latency_ms"][parent][child]:.1f}</text>')
    for rank, (x, y) in sorted(at.items()):
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{COLORS[told["site_of"][rank]]}">'
                   f'<title>rank {rank}, after {tree["arrivals_ms"][rank]:.2f} ms</title></circle>'
                   f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" fill="white">{rank}</text>')
    return "\n".join([*out, "</svg>", ""])


def way(tree, to):
    """Ranks from the root to this one."""
    parents = {child: parent for parent, child in edges(tree)}
    found = [to]
    while found[0] in parents:
        found.insert(0, parents[found[0]])
    return found


def wrong(told):
    """What the paper says of its trees that these have not; what we say of ours."""
    trees, latency, site_of = told["trees"], told["latency_ms"], told["site_of"]

    def expect(what, wanted, found):
        if wanted != found:
            yield f"{what}: want {wanted}, found {found}"

    for name, tree in trees.items():
        children = sorted(child for _, child in edges(tree))
        yield from expect(f"{name}: ranks that get the message", [r for r in range(24) if r != 12], children)
    # "deverá enviar a mensagem para processo (20) e este, em seguida, para o processo (0)", 96.5 ms.
    yield from expect("Fig. 1, way to rank 0", [12, 20, 0], way(trees["binomial"], 0))
    yield from expect("Fig. 1, ms to rank 0", 96.5, round(latency[12][20] + latency[20][0], 1))
    yield from expect("Fig. 1, sites on the way to rank 8", 3,
                      len({site_of[rank] for rank in way(trees["binomial"], 8)}))
    yield from expect("Fig. 2, way to rank 0", [12, 0], way(trees["two-level"], 0))
    yield from expect("Fig. 2, ms to rank 0", 14.9, latency[12][0])
    # A message into each of the other five sites, from the root's.
    yield from expect("Fig. 2, sites that send to others", [3] * 5,
                      [site_of[a] for a, _ in between_sites(told, trees["two-level"])])
    # By hand from Table 1, whose latencies all differ: 13.5, 14.9, 35.1, 331.0 and 364.1 ms.
    yield from expect("Fig. 3, edges between sites", [(0, 3), (1, 2), (1, 4), (3, 4), (3, 5)],
                      sorted(tuple(sorted((site_of[a], site_of[b])))
                             for a, b in between_sites(told, trees["spanning"])))
    last = {name: tree["completion_ms"] for name, tree in trees.items()}
    yield from expect("trees by when their last rank has the message", ["ours", "two-level", "spanning", "binomial"],
                      sorted(last, key=last.get))
    if not last["ours"] <= 1.05 * told["bound_ms"]:
        yield f"ours: want at most 1.05 times the bound of {told['bound_ms']} ms, found {last['ours']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="of the programs")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=pathlib.Path, help="folder for pictures")
    what.add_argument("--check", type=pathlib.Path, help="folder of pictures that are kept")
    arguments = parser.parse_args()
    program = arguments.build / "bench/papers/paper_trees"
    if not program.is_file():
        parser.error(f"want a build with bench/papers/paper_trees, found none in {arguments.build}")
    done = subprocess.run([program], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return 1
    told = json.loads(done.stdout)
    found = list(wrong(told))
    for made, kept, name, title in PICTURES:
        tree, picture = told["trees"][name], draw(told, told["trees"][name], title)
        print(f"{name:10} last rank after {tree['completion_ms']:.1f} ms, "
              f"{len(between_sites(told, tree))} messages between sites")
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / f"{made}.svg").write_text(picture)
            continue
        path = arguments.check / f"{kept}.svg"
        if not path.is_file() or path.read_text() != picture:
            found.append(f"{path}: want what the code draws now, found another picture or none; "
                         f"bench/papers/run {kept} --keep makes it again")
    print(f"{'bound':10} {told['bound_ms']:.1f} ms")
    for one in found:
        print(f"trees.py: {one}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
