"""The bars of paper 001's Figs. 4 to 7: of what bench/coll/paper.py has measured, beside the paper's."""

import json
import pathlib
import statistics
import sys

import paper_values as paper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import chart  # noqa: E402

# Experiment, what the paper's engines are called there, the paper's bars, title.
CHANGES = {5: ("after", {"mst adap": "mst adap", "mst adap II": "mst adap II"}, paper.FIGURE_5,
               "16 broadcasts after the changes, those above 10 %"),
           6: ("after", {"mst adap": "mst adap, 70 %", "mst adap II": "mst adap II, 70 %"}, paper.FIGURE_6,
               "16 broadcasts after the changes, those above 70 %"),
           7: ("between", {"mst adap": "mst adap, 0 %", "mst adap II": "mst adap II, 0 %"}, paper.FIGURE_7,
               "20 broadcasts, two failures and two recoveries in between")}
# The distributed tree is one as long as links stay as they are.
BEFORE = {"two-level": "two-level", "mst": "mst adap II", "tree": "tree"}


MODELLED = ["binomial", "two-level", "mst", "tree"]


def making(results, engine, result):
    """Seconds from MPI_Init until the first round of the distributed tree was over, or until the first
    broadcast began that was as fast as the model says of the tree, links as in Table 1."""
    if engine.startswith("mst"):
        return result.get("first_round_s")
    before = results.get("before", {}).get(engine, {"making_meanwhile_s": [], "model_before": [0] * 5})
    began, fast = 0, 1.1 * before["model_before"][MODELLED.index(engine)]
    for took in before["making_meanwhile_s"]:
        if took <= fast:
            return began
        began += took
    return None


def of_figure_4(results, count):
    """Bars of ours by engine: what was not measured is None."""
    rows = {}
    for shown, engine in BEFORE.items():
        before = results.get("before", {}).get(engine)
        application = results.get("application", {}).get(engine)
        if before:
            rows[shown] = (making(results, engine, before),
                           statistics.median(application[f"application_{count}_s"]) if application else None,
                           statistics.median(before[f"before_{count}_s"]))
    return rows


def of_changes(results, experiment, names):
    rows = {}
    for shown in ["two-level", "mst static", "mst adap", "mst adap II", "tree"]:
        result = results.get(experiment, {}).get(names.get(shown, shown))
        if not result:
            continue
        made = making(results, names.get(shown, shown), result)
        adapting = result.get("adapting_s", [])
        broadcasts = sum(result["between_4_s"]) if experiment == "between" else statistics.median(result["after_16_s"])
        adapted = None if None in adapting else sum(adapting)
        known = None not in (made, adapted)
        # New links are there in no time.
        rows[shown] = (made, 0, broadcasts, adapted, made + broadcasts + adapted if known else None)
    return rows


def bars_of(results):
    """(title, names of bars, ours by engine, the paper's by engine) of what was measured."""
    for count, papers in paper.FIGURE_4.items():
        if rows := of_figure_4(results, count):
            yield f"Fig. 4: {count} broadcasts, links as in Table 1", paper.BARS_4, rows, papers
    for number, (experiment, names, papers, title) in CHANGES.items():
        if rows := of_changes(results, experiment, names):
            yield f"Fig. {number}: {title}", paper.BARS, rows, papers


def panel(title, names, rows, whose):
    lines = [(f"{whose}{engine}", [(x, value, value, value) for x, value in enumerate(row) if value is not None])
             for engine, row in rows.items()]
    return title, "", lines, {"names": names, "log_y": True, "bars": True}


def draw(results, out):
    out.mkdir(parents=True, exist_ok=True)
    (out / "paper001.json").write_text(json.dumps(results, indent=1))
    panels = {}
    for title, names, rows, papers in bars_of(results):
        number = int(title.split()[1].strip(":"))
        words = title.split(": ")[1]
        of = panels.setdefault(number, [])
        both = {**{f"here: {engine}": row for engine, row in rows.items()},
                **{f"paper: {engine}": row for engine, row in papers.items()}}
        of.append(panel(f"{words}, seconds", names, both, ""))
    for number, drawn in panels.items():
        path = out / f"figure{number}.svg"
        chart.write(path, f"Fig. {number}", drawn, columns=1)
        print(f"drew {path}")
