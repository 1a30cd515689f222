"""Results that reports are made of: an ordinary one, one whose names attack the page, one as large as they get."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

from certselect import Result, SubsetSelectorCV, choose_subset, value_curve
from certselect.report import report_page
from certselect.results.columns import MOST_COLUMNS
from certselect.results.facts import result_facts

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "\u202egnp.exe\u2066",
    "{{7*7}}{% raw %}",
    "&lt;b&gt;",
    '" onmouseover="alert(3)',
    "<img src=x onerror=alert(4)>",
    "javascript:alert(5)",
    "x" * 10_000,
    "\x00\x1b[2J\n",
    "]]><!--",
)


def tumours() -> pd.DataFrame:
    data: Any = load_breast_cancer(as_frame=True)
    return data.data.assign(diagnosis=data.target_names[data.target])


@cache
def ordinary() -> Result:
    return choose_subset(
        tumours(), "diagnosis", 8, random_state=0, criterion="jmi", measure="plugin", correction="none"
    )


@cache
def cross_validated() -> Result:
    frame = tumours().iloc[:, :8].assign(diagnosis=tumours()["diagnosis"])
    selector = SubsetSelectorCV(
        KNeighborsClassifier(3), 4, cv=3, random_state=0, criterion="jmi", measure="plugin", correction="none"
    )
    return selector.fit(frame.drop(columns="diagnosis"), frame["diagnosis"]).result_


@cache
def hostile() -> Result:
    """Names of columns, levels, classes and the target that try to be more than text."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 90)
    frame = pd.DataFrame({name: rng.normal(size=90) + label * 0.1 * i for i, name in enumerate(HOSTILE)})
    seen = np.where(np.arange(90) % 9 == 0, 1 - label, label)  # not the target itself
    frame["levels"] = np.array(["<script>alert(6)</script>", "</table>"])[seen]
    frame["<h1>target</h1>"] = np.array(["<b>no</b>", "</script>yes"])[label]
    return choose_subset(
        frame, "<h1>target</h1>", 6, strategy="forward", criterion="jmi", measure="plugin", correction="none"
    )


@cache
def ordinary_page() -> str:
    assert ordinary().terms is not None
    return report_page(result_facts(ordinary(), value_curve(ordinary().terms, range(1, 11), "jmi")))


def large_facts(chosen: int = 500, columns: int = 20_000, name: str = "gene_{:05d}_transcript") -> dict[str, Any]:
    """The facts of a result of that size, which would take long to select: those of a small one, made up to it."""
    facts = result_facts(ordinary())
    names = [name.format(i) for i in range(columns)]
    rng = np.random.default_rng(0)
    told: dict[str, list[Any]] = {
        "feature": names,
        "chosen": [i < chosen for i in range(columns)],
        "closest": [names[i % chosen] for i in range(columns)],
        "swap_with": [names[-1 - i] for i in range(columns)],
        "proven": [False] * columns,
        "why": [
            f"left out: putting it in for {names[i % chosen]!r}, the best exchange, would lose 0.00123 nats; "
            f"shares 93 % of its information with {names[i % chosen]!r}"
            for i in range(columns)
        ],
    }
    for number in ("relevance", "chance", "p_value", "shared", "shared_part", "worth", "swap_loss"):
        told[number] = rng.random(columns).tolist()
    kept = {"kinds": ["number"] * columns, "levels": [5] * columns, "missing": [0] * columns}
    shown = 40  # as many features as a map has, and as many distributions as are kept
    drawn = [one | {"column": i} for i, one in enumerate(facts["distributions"]["of"] * 8)][:MOST_COLUMNS]
    return facts | {
        "redundancy": facts["redundancy"]
        | {"columns": list(range(shown)), "parts": rng.random((shown, shown)).round(4).tolist()},
        "distributions": facts["distributions"] | {"of": drawn},
        "features": told,
        "n_chosen": chosen,
        "n_features": columns,
        "chosen": list(range(chosen)),
        "names": names[:chosen],
        "left_out": list(range(chosen, columns)),
        "columns": kept,
    }
