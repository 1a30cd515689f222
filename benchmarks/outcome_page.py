"""docs/outcome.md, made from the results kept and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path

from outcome_contestants import AUTO, DEFAULT, OURS
from outcome_protocol import protocol
from outcome_scoring import FOLDS, LIMIT, MODELS, MOST_TRAINING_ROWS, REPEATS, SIZES, TREES
from outcome_summary import FAR, Outcome, Row, Standing
from outcome_tables import COLUMNS, MOST_COLUMNS, MOST_LEVELS
from outcome_verdict import judgement
from page_section import table, wrapped

PAGE = Path(__file__).parent.parent / "docs" / "outcome.md"
NOISY = "diabetes + noise"
ABSENT = "-"


def page_text(rows: Iterable[Row], judged: Sequence[Row], code: str) -> str:
    """The page from the results on tuning tables, those of the judgement, and the digest of the code as it is."""
    kept = list(rows)
    outcome = Outcome(kept)
    parts = [opening(code), protocol(), judgement(judged, code), tuning(outcome, kept, code), tables(outcome), ENDING]
    return "\n\n".join(paragraph for part in parts for paragraph in part) + "\n"


# What is shown of numbers


def points(difference: float) -> str:
    return ABSENT if isnan(difference) else f"{100 * difference:+.1f}"


def number(value: float, digits: int = 3) -> str:
    return ABSENT if isnan(value) else f"{value:.{digits}f}"


def score_cells(outcome: Outcome, name: str) -> list[str]:
    """Mean accuracy of each size and of all, and mean R2; in brackets where tables are missing."""

    def cell(value: float, among: Sequence[str]) -> str:
        whole = outcome.tables_of(name, among) == list(among)
        return number(value) if whole or isnan(value) else f"({number(value)})"

    classes, numbers = outcome.class_tables, outcome.number_tables
    return [
        *(cell(outcome.mean(name, classes, size), classes) for size in SIZES),
        cell(outcome.mean(name, classes), classes),
        cell(outcome.mean(name, numbers), numbers),
    ]


def standing_line(outcome: Outcome, name: str, standing: Standing) -> list[str]:
    is_default = name == DEFAULT.name
    return [
        f"**{name}**" if is_default else name,
        *score_cells(outcome, name),
        ABSENT if is_default else points(outcome.lead(name, DEFAULT.name, outcome.tables)),
        f"{standing.mean_rank:.2f}",
        ABSENT if is_default else f"{standing.pvalue:.2f}",
        str(standing.tables),
        f"{outcome.chosen(name, max(SIZES)):.0f}",
    ]


def standing_table(outcome: Outcome, names: Sequence[str]) -> str:
    """One line for each contestant, by mean rank."""
    head = ["", *(f"k = {size}" for size in SIZES), "all k", "R2", "to default", "mean rank", "p", "tables"]
    head.append(f"chosen of {max(SIZES)}")
    standings = outcome.standings(names)
    by_rank = sorted(names, key=lambda name: standings[name].mean_rank)
    return table(head, [standing_line(outcome, name, standings[name]) for name in by_rank], 1)


def table_by_table(outcome: Outcome) -> str:
    lines = []
    for name in outcome.tables:
        scores = {one: number(outcome.score(name, one)) for one in outcome.shown if outcome.has(name, one)}
        highest = max(scores.values(), key=float)
        cells = [scores.get(one, ABSENT) for one in outcome.shown]
        default, *others = [f"**{cell}**" if cell == highest else cell for cell in cells]
        lines.append([name, default, f"± {outcome.standard_error(name, DEFAULT.name):.3f}", *others])
    default, *others = outcome.shown
    return table(["table", default, "", *others], lines, 1)


# Sentences that the numbers decide


def against_best_setting(outcome: Outcome) -> str:
    best, classes, numbers = outcome.best_setting, outcome.class_tables, outcome.number_tables
    said = (
        f"Over {len(classes)} tables with classes the default reaches a mean accuracy of "
        f"{number(outcome.mean(DEFAULT.name, classes))}, {points(outcome.lead(DEFAULT.name, best, classes))} points to "
        f"the best single setting of ours that chooses k (`{best}`)"
    )
    if numbers:
        said += (
            f"; over {len(numbers)} tables with a number to predict it reaches a mean R2 of "
            f"{number(outcome.mean(DEFAULT.name, numbers))}, {points(outcome.lead(DEFAULT.name, best, numbers))} "
            "points to the same setting"
        )
    return said + "."


def of_fewer(outcome: Outcome) -> list[str]:
    name = outcome.best_of_fewer
    if name is None:
        return []
    leads = {size: outcome.lead(name, outcome.best_setting, outcome.class_tables, size) for size in SIZES}
    by_size = ", ".join(f"{points(lead)} (k = {size})" for size, lead in leads.items())
    return [
        f"`{name}` leaves out columns in which it finds nothing, and so chooses {outcome.chosen(name, max(SIZES)):.0f} "
        f"of {max(SIZES)} on average: its accuracy to `{outcome.best_setting}` is {by_size} points."
    ]


def against_peers(outcome: Outcome) -> str:
    standings = outcome.standings(outcome.shown)
    own = standings[DEFAULT.name].mean_rank
    ahead = [name for name in outcome.peers if standings[name].mean_rank <= own]
    said = f"Its mean rank among the {len(outcome.shown)} of the first table is {own:.2f}, "
    if not ahead:
        return said + "ahead of every other package."
    return said + f"not ahead of {', '.join(f'{name} ({standings[name].mean_rank:.2f})' for name in ahead)}."


def auto_against_counting(outcome: Outcome) -> str:
    behind = [f"{name} ({points(-by)})" for name, by in outcome.auto_below_default()]
    where = f"on {', '.join(behind)}" if behind else "nowhere"
    return f'`measure="auto"` is more than {100 * FAR:.0f} points below counting, the default, {where}.'


def on_noisy_diabetes(outcome: Outcome) -> str:
    scores = {size: number(outcome.score(NOISY, DEFAULT.name, size), 2) for size in SIZES}
    reached = ", ".join(f"{score} (k = {size})" for size, score in scores.items())
    return f"On diabetes with 90 columns of noise the default, told nothing, reaches an R2 of {reached}."


def verdicts(outcome: Outcome) -> list[str]:
    said = [
        against_best_setting(outcome),
        *of_fewer(outcome),
        against_peers(outcome),
        auto_against_counting(outcome),
    ]
    return [*said, on_noisy_diabetes(outcome)] if NOISY in outcome.tables else said


def losses(outcome: Outcome) -> str:
    lines = [
        f"* {name}: {number(outcome.score(name, DEFAULT.name))}, and {number(outcome.score(name, best))} by {best} "
        f"({points(by)} points)."
        for name, best, by in outcome.losses()
    ]
    return "\n".join(lines) if lines else "Nowhere."


def gaps(outcome: Outcome) -> str:
    lines = []
    for reason, names in outcome.gaps().items():
        where = "every table" if names == outcome.tables else ", ".join(names)
        lines.append(wrapped(f"* {reason} ({where}).", "  "))
    return "\n".join(lines) if lines else "Every contestant ran on every table."


# The page, part by part


def opening(code: str) -> list[str]:
    return [
        "<!-- Made by `python benchmarks/outcome.py`; `--page` makes it again from its results. Do not edit. "
        f"Code: {code} -->",
        "# Do the features predict?",
        wrapped(
            "A subset that is proven optimal under a criterion is of use if a model that is trained on it predicts "
            "the target on rows it has not seen. This page measures that for our default and for the packages that "
            "users pick today, on tables that were not used to choose the default; and for all of our settings on "
            "some tuning tables."
        ),
    ]


def tuning(outcome: Outcome, rows: Iterable[Row], code: str) -> list[str]:
    """The second half of the page: results kept of all settings, and which of them other code made."""
    names = {one.name for one in OURS}
    ours = [row for row in rows if row["contestant"] in names]
    old = [row for row in ours if row.get("code") != code]
    state = (
        f"**Stale**: {len(old)} of {len(ours)} rows of our settings were made by earlier code, when `default` was JMI "
        "by plain counts. `python benchmarks/outcome.py --stale` measures them again."
    )
    return [
        "## All settings on some of the tuning tables",
        wrapped("These figures flatter: the default was chosen after a look at these tables." if not old else state),
        "\n".join(wrapped(f"* {sentence}", "  ") for sentence in verdicts(outcome)),
    ]


def tables(outcome: Outcome) -> list[str]:
    return [
        "### The default and other packages",
        wrapped(
            "Mean accuracy over the tables with classes, for each number of features k and over all four; mean R2 "
            "over the tables with a number to predict (all k); mean difference to the default in points of accuracy "
            "or R2 over all tables; mean rank (1 is best), and the p-value of Nemenyi's test against the default. For "
            "ranks each table counts once, by the mean over k. The last column has how many features were chosen where "
            f"{max(SIZES)} were asked for. In brackets: means over fewer tables, where some are missing. "
            f"Friedman's test of no difference: p = {outcome.friedman(outcome.shown):.1g}."
        ),
        wrapped(
            f"`{DEFAULT.name}` is `SubsetSelector(k)`, given a data frame and told nothing else; `{AUTO.name}` is "
            f'`SubsetSelector(k, measure="auto")`; `{outcome.best_setting}` is the best of our settings below.'
        ),
        standing_table(outcome, outcome.shown),
        "### Our own settings",
        wrapped(
            "The same for every setting of ours, ranked among themselves: criterion, then how numbers are cut (5 bins "
            "of equal width or of equal counts, 3 to 5 bins of equal counts by the fourth root of the number of rows, "
            "mdlp, mean_std), then the bias correction, or the measure. These use forward selection, or where they say "
            "so forward selection with polish or COBRA with polish, as the default does; they are told the task, and "
            f"columns of whole numbers with more than {MOST_LEVELS} different values are given to them as numbers, "
            'unless it says "integers as levels".'
        ),
        standing_table(outcome, outcome.ours),
        "### Table by table",
        wrapped(
            "Accuracy, or R2 where a number is predicted (the last five), averaged over k, models and splits; in bold "
            f"the highest. Beside the default its standard error over the {FOLDS * REPEATS} splits, which overlap: a "
            "rough guide."
        ),
        table_by_table(outcome),
        "#### Tables where the default loses",
        f"More than {100 * FAR:.0f} points behind the best of the other packages:",
        losses(outcome),
        "#### What is missing",
        gaps(outcome),
    ]


METHOD = [
    "**What the default owes to these tables**: its rule for whole numbers (levels up to 10 different values) was "
    "chosen among three after a look at some of them, Madelon and Arrhythmia first, and the best of our settings is "
    "picked from over 30 on all of them. Both figures flatter; a table that nobody looked at before is a better judge.",
    f"**Splits**: {FOLDS} folds, {REPEATS} times with other seeds, stratified by class. Features are chosen from the "
    f"training rows of each split alone, at most {MOST_TRAINING_ROWS} of them (thinned out by class); all rows of "
    "the test fold are predicted.",
    f"**Models** ({', '.join(MODELS)}): logistic regression (ridge regression for numbers), 5 nearest neighbours, an "
    f"SVM with the RBF kernel and a forest of {TREES} trees, with scikit-learn's settings otherwise. Medians for "
    "missing values and scaling are learnt from the training rows. A score is the mean of the four.",
    "**Tables**: scikit-learn's wine, breast cancer and handwritten digits; the paper's eight (see "
    "[datasets](datasets.md)); drawn ones of which it is known what tells the class; and five with a number to "
    f"predict. Tables of few columns got more, up to {COLUMNS} or 60: copies of their own columns with the rows "
    f"shuffled (diabetes: 90 of normal noise). Tables of more than {MOST_COLUMNS} columns (NCI, DBWorld, CNAE-9, "
    f"Internet Ads, Dexter) were cut to the {MOST_COLUMNS} whose values have most entropy, for all contestants alike; "
    "the target is not looked at.",
    "**Ours** get a data frame as a file would give it: whole numbers are integers, missing values stay. **Others** "
    "get the columns that are not constant, standardised, with medians for missing values. SelectFromModel with L1 "
    "may choose fewer than k, since all other coefficients are 0; Boruta's confirmed columns are ordered by their "
    "mean importance (100 trees, 20 rounds); fastcan is given one target column for each class.",
    f"**Limit**: a contestant that takes more than {LIMIT} s of processor time for the four sizes of one split is "
    "left out of that table, and ranked by the tables where it ran.",
    "**Ranks**: scores of a table are rounded to three digits, and ties share their rank; the tests are those of "
    "`compare_algorithms`.",
]
ENDING = [
    "## How the tuning tables were measured",
    "\n".join(wrapped(f"* {sentence}", "  ") for sentence in METHOD),
    "## How to run it again",
    """\
    python benchmarks/judging_tables.py FOLDER --debian ROOT    # builds the judging tables; see its head
    CERTSELECT_JUDGING=FOLDER python benchmarks/outcome_judgement.py --jobs 16
    CERTSELECT_DATA=FOLDER make outcome                    # measures what is not kept yet, and writes this page
    python benchmarks/outcome.py --only default --fresh    # one contestant again, on the tuning tables
    python benchmarks/outcome.py --stale                   # what earlier code made
    python benchmarks/outcome.py --page                    # the page alone""",
    wrapped(
        "A contestant of ours is one line of `OURS` in `benchmarks/outcome_contestants.py`. Without a folder of the "
        "paper's data sets, or without a package (`pip install 'certselect[outcome]'`), what is kept of them stays in "
        "`benchmarks/results/outcome.json`."
    ),
]
