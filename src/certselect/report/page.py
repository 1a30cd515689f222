"""Facts -> the report's HTML: templates with everything escaped, style and script put inside."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from certselect import shown_numbers
from certselect.names import harmless
from certselect.report import charts, wording
from certselect.writing import write_whole

# Rows of the list of relevant features left out, and bytes of the list of all columns: a page stays below 5 MB.
MOST_LEFT_OUT = 100
MOST_LISTED = 3_800_000
# Stands around the place of a name; foreign text has none, for what cannot be printed is spelled out in it.
_REFERENCE = "\ue000"
_LONGEST_REASON = 240
# What a report may show; the facts of a path, say, are few of these.
_SECTIONS = (
    "about_chance",
    "carried",
    "certificate",
    "checked",
    "columns",
    "decisions",
    "distributions",
    "features",
    "leaking",
    "leaks",
    "left_out",
    "out_of_time",
    "path",
    "redundancy",
    "saved",
    "scores",
    "versions",
)
_KINDS = {
    "integer": "whole numbers",
    "number": "numbers",
    "category": "levels",
    "truth": "true or false",
    "date": "dates or times",
    "identifier": "identifier, left out",
    "text": "text, left out",
    "skipped": "not looked at",
}


def write_report(facts: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the report to a file, whole or not at all."""
    page = report_page(facts)
    write_whole(path, lambda file: file.write(page.encode()))


def report_page(facts: dict[str, Any]) -> str:
    """The report as one HTML document."""
    style, script = _inline("report.css"), _inline("report.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    shown = dict.fromkeys(_SECTIONS) | facts
    return (
        _templates()
        .get_template("page.html")
        .render(
            shown,
            style=style,
            script=script,
            policy=policy,
            all_columns=_all_columns(facts) if "features" in facts else None,
            most_left_out=MOST_LEFT_OUT,
        )
    )


def report_card(facts: dict[str, Any]) -> str:
    """The certificate and the chosen features as a piece of HTML without a script, for notebooks."""
    shown = dict.fromkeys(_SECTIONS) | facts
    return _templates().get_template("card.html").render(shown, style=_inline("card.css"))


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("certselect.report", "files"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_as_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "short": wording.short,
        "nats": shown_numbers.nats,
        "at_most": shown_numbers.at_most,
        "percent": shown_numbers.percent,
        "gap": shown_numbers.gap_words,
        "p_words": shown_numbers.p_words,
        "seconds": wording.seconds,
    }
    made.globals |= {
        "bar": charts.certificate_bar,
        "line_chart": charts.line_chart,
        "heat_map": charts.heat_map,
        "length": charts.length,
        "distribution": charts.distribution_chart,
        "shades": charts.SHADES,
        "UNKNOWN": shown_numbers.UNKNOWN,
    }
    return made


def _as_text(value: Any) -> Any:
    """What a template puts into the page: text from a file, whatever it is, changes nothing but the place it is at."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else harmless(value)


@cache
def _inline(name: str) -> Markup:
    """A file of ours that goes into the page as it is."""
    loader = _templates().loader
    assert loader is not None
    return Markup(loader.get_source(_templates(), name)[0])


def _digest(text: str) -> str:
    """What a content security policy knows an inline style or script by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _all_columns(facts: dict[str, Any]) -> dict[str, Any]:
    """A row for every column, for the page's script to list; for the most relevant ones if that is too much.

    Other features that a reason names are kept once, beside the rows, and referred to by their place there.
    """
    told, taken = facts["features"], facts.get("columns")
    places: dict[str, int] = {}
    rows: list[str] = []
    room = MOST_LISTED
    for i in sorted(range(len(told["feature"])), key=lambda i: (-(told["relevance"][i] or 0.0), i)):
        why = wording.short(told["why"][i], _LONGEST_REASON)
        for other in {told["closest"][i], told["swap_with"][i]} - {None}:
            named = harmless(repr(other))
            if named in why and len(named) < _LONGEST_REASON:
                why = why.replace(named, f"{_REFERENCE}{places.setdefault(named, len(places))}{_REFERENCE}")
        numbers = (told["relevance"][i], told["chance"][i])
        how = [_KINDS[taken["kinds"][i]], taken["levels"][i] or None, taken["missing"][i]] if taken else []
        rounded = [None if number is None else float(f"{number:.4g}") for number in numbers]
        row = _as_json([i + 1, wording.short(told["feature"][i]), *how, *rounded, why])
        room -= len(row.encode())
        if room < 0:
            break
        rows.append(row)
    listed = Markup('{"names":%s,"rows":[%s]}') % (Markup(_as_json(list(places))), Markup(",\n".join(rows)))
    return {"listed": listed, "n": len(rows), "whole": len(rows) == len(told["feature"])}


def _as_json(value: Any) -> str:
    """JSON that can stand inside a script element whatever text is in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
