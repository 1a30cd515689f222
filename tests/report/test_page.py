"""The report as text: everything escaped, every section there or said to be missing, below its size."""

import json
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from as_before import counted, jmi
from certselect import Result, SubsetProblem, choose_subset, load_result, select, value_curve
from certselect.errors import InvalidInput
from certselect.names import harmless
from certselect.report import page as pages
from certselect.report import report_card, report_page
from certselect.results.facts import in_four_digits, result_facts
from certselect.results.parsing import from_dict
from report.made_reports import HOSTILE, cross_validated, hostile, large_facts, ordinary, ordinary_page, tumours
from results.made_results import KINDS, made

SECTIONS = ("certificate", "chosen", "redundancy", "left-out", "distributions", "columns", "repeat")


class Read(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.ids, self.attributes, self.text, self.inside = [], [], [], [], []
        self.scripts = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.ids += [value for name, value in attributes if name == "id"]
        self.inside.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.inside and self.inside[-1] == "script":
            self.scripts[-1] += data
        else:
            self.text.append(data)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def says(self, words):
        return words in re.sub(r"\s+", " ", "".join(self.text))


def listed(html):
    """The list of all columns that the page's script shows, with the names in its reasons."""
    data = json.loads(Read(html).scripts[0])
    put = [re.sub("\ue000(\\d+)\ue000", lambda m: data["names"][int(m[1])], row[-1]) for row in data["rows"]]
    return data["rows"], put


def test_a_report_says_everything_there_is_to_say():
    result, read = ordinary(), Read(ordinary_page())
    assert set(SECTIONS) | {"sizes"} <= set(read.ids)
    assert len(read.ids) == len(set(read.ids))
    assert read.says(result.statement)
    assert read.says("Which 8 columns of 30 predict 'diagnosis' best together, judged by 569 rows?")
    for i in result.indices:
        for name in ("relevance", "chance", "worth"):
            assert read.says(f"{result.explanation[name][i]:.4f}")
    assert read.says(
        "certselect select TABLE.csv --target diagnosis -k 8 --measure plugin --correction none "
        "--criterion jmi --seed 0"
    )
    assert read.says(
        "choose_subset('TABLE.csv', 'diagnosis', 8, measure='plugin', correction='none', criterion='jmi', "
        "random_state=0)"
    )
    assert read.says(result.provenance.versions["numpy"])
    assert read.says("Elbow between 1 and 10 features")
    assert not read.says("A saved result does not hold")


def test_the_list_of_columns_has_every_column_with_the_reasons_of_the_explanation():
    rows, reasons = listed(ordinary_page())
    told = ordinary().explanation
    assert sorted(row[0] for row in rows) == list(range(1, 31))
    for row, why in zip(rows, reasons, strict=True):
        assert row[1] == told["feature"][row[0] - 1]
        assert why == told["why"][row[0] - 1]
    relevance = [row[5] for row in rows]
    assert relevance == sorted(relevance, reverse=True)


def test_no_name_becomes_anything_but_text():
    html = report_page(result_facts(hostile()))
    read = Read(html)
    assert read.tags.count("h1") == 1
    assert "img" not in read.tags
    assert read.tags.count("script") == 2
    assert not [name for name, _ in read.attributes if name.startswith("on") or name == "style"]
    rows, _ = listed(html)
    shown = {row[1] for row in rows}
    for name in HOSTILE:
        assert (harmless(name) if len(name) < 80 else f"{'x' * 64}…{'x' * 16} (10,000 characters)") in shown
    assert not [mark for mark in html if not mark.isprintable() and mark not in "\n\ue000"]
    assert len(html) < 300_000, "a long name stands nowhere in full"
    card = Read(report_card(result_facts(hostile())))
    assert not {"script", "img", "h1", "b"} & set(card.tags)


def test_the_policy_allows_the_style_and_the_script_of_the_page_and_nothing_else():
    html = ordinary_page()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.replace("&#39;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    (script,), (style,) = (
        re.findall(r"<script>(.*?)</script>", html, re.S),
        re.findall(r"<style>(.*?)</style>", html, re.S),
    )
    assert rules["script-src"] == f"'{pages._digest(script)}'"
    assert rules["style-src"] == f"'{pages._digest(style)}'"
    assert "http" not in re.sub(r"http-equiv", "", html)
    assert "eval(" not in script


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_result_has_a_report_and_a_card(kind, tmp_path):
    result = made(kind).result
    read = Read(report_page(result_facts(result)))
    assert set(SECTIONS) <= set(read.ids)
    proof, _, chance = result.statement.partition(" No better than chance: ")
    assert read.says(proof)
    assert not chance or read.says(f"No better than chance: {chance}")
    json.dumps(result_facts(result), allow_nan=False)  # plain, with nothing unknown but None
    assert "certselect-card" in result._repr_html_()
    result.save(tmp_path / "saved.json")
    saved = Read(report_page(result_facts(load_result(tmp_path / "saved.json"))))
    assert set(SECTIONS) <= set(saved.ids)
    assert saved.says("A saved result does not hold values of the table")


def test_a_saved_result_gets_the_whole_report_back_with_its_table(tmp_path):
    ordinary().save(tmp_path / "saved.json")
    loaded = load_result(tmp_path / "saved.json")
    unchecked = Read(report_page(result_facts(loaded)))
    assert unchecked.says("Its claims were not checked against the table here")
    assert unchecked.says("Not checked here")
    assert not unchecked.says("Certified")
    assert Read(report_page(result_facts(ordinary()))).says("Certified")
    without = {**result_facts(loaded), "versions": {"numpy": "1"}}
    assert Read(report_page(without)).says("Made by certselect.")
    whole = result_facts(loaded.with_table(tumours()))
    assert Read(report_page(whole)).says("was checked against the table and holds; scores of a classifier")
    before = result_facts(ordinary())
    for part in ("features", "left_out", "columns", "distributions", "redundancy", "decisions", "command"):
        assert whole[part] == before[part]
    with pytest.raises(InvalidInput, match="another table"):
        loaded.with_table(tumours().head(300))


def test_a_pickled_result_maps_the_chosen_features_alone():
    facts = result_facts(pickle.loads(pickle.dumps(ordinary())))
    assert facts["redundancy"]["n_runners_up"] == 0
    assert sorted(facts["redundancy"]["columns"]) == sorted(facts["chosen"])
    assert facts["distributions"] == result_facts(ordinary())["distributions"]


def test_the_map_shows_what_pairs_share_with_similar_features_side_by_side():
    facts, terms = result_facts(ordinary())["redundancy"], ordinary().terms
    assert terms is not None
    columns, parts = facts["columns"], np.array(facts["parts"])
    assert (parts == parts.T).all()
    i, j = columns[0], columns[5]
    shared = terms.redundancy[i, j]
    assert parts[0, 5] == pytest.approx(shared / min(terms.entropy[i], terms.entropy[j]), abs=1e-4)
    neighbours = parts[np.arange(len(parts) - 1), np.arange(1, len(parts))].mean()
    assert neighbours > parts[~np.eye(len(parts), dtype=bool)].mean()


def test_features_left_out_are_the_relevant_ones_with_the_chosen_one_that_covers_them():
    facts, told = result_facts(ordinary()), ordinary().explanation
    assert not set(facts["left_out"]) & set(facts["chosen"])
    assert all(told["p_value"][i] <= 0.05 for i in facts["left_out"])
    doubtful = {i for i in range(30) if told["p_value"][i] > 0.05}
    assert set(facts["left_out"]) == set(range(30)) - set(facts["chosen"]) - doubtful
    read = Read(report_page(facts))
    for i in facts["left_out"]:
        assert told["closest"][i] in ordinary().names
        assert read.says(told["closest"][i])


def test_scores_of_a_cross_validation_are_drawn_and_listed():
    choice = cross_validated().choice
    assert choice is not None
    read = Read(report_page(result_facts(cross_validated())))
    assert "sizes" in read.ids
    assert read.says("How well they predict")
    for mean in choice.mean_scores:
        assert read.says(f"{mean:.4f}")


def test_the_report_of_the_largest_result_stays_below_five_megabytes():
    html = report_page(large_facts())
    assert len(html.encode()) < 5e6
    rows, reasons = listed(html)
    assert len(rows) == 20_000
    assert reasons[0] == large_facts()["features"]["why"][rows[0][0] - 1]
    assert Read(html).says("Here are the 100 most relevant; all columns are listed below.")


def test_names_too_long_to_list_all_columns_are_said_to_be():
    html = report_page(large_facts(20, 20_000, "column " + "y" * 900 + " {:05d}"))
    assert len(html.encode()) < 5e6
    assert len(listed(html)[0]) < 20_000
    assert Read(html).says("most relevant of 20,000 columns are listed")


def test_a_selection_and_a_curve_have_reports_of_their_own(tmp_path):
    selection = select(SubsetProblem.from_matrix(np.diag([3.0, 2.0, 1.0]), k=2), "exhaustive")
    selection.to_html(tmp_path / "selection.html")
    read = Read((tmp_path / "selection.html").read_text(encoding="utf-8"))
    assert read.says(selection.statement)
    assert read.says("x0")
    assert not read.says("nats"), "nobody knows what a given matrix is in"
    assert "certselect-card" in selection._repr_html_()
    assert ordinary().terms is not None
    value_curve(ordinary().terms, [1, 2, 3]).to_html(tmp_path / "curve.html")
    read = Read((tmp_path / "curve.html").read_text(encoding="utf-8"))
    assert read.says("What are the best subsets of 1 to 3 features worth?")
    assert "certificate" not in read.ids


def test_a_report_replaces_its_file_whole_or_not_at_all(tmp_path):
    file = tmp_path / "report.html"
    file.write_text("old")
    ordinary().to_html(file)
    assert file.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(InvalidInput, match="cannot be written"):
        ordinary().to_html(tmp_path / "nowhere" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_result_without_a_bound_does_not_look_like_one_with_a_bound():
    result: Result = made("strategy forward").result
    read = Read(report_page(result_facts(result)))
    assert read.says("How far these are from the best is not known.")
    assert read.says("No bound was computed: certify=True computes one")
    assert not read.says("Upper bound")


HUGE = [1e308, -1e308]


@pytest.mark.parametrize("number", HUGE)
def test_numbers_that_only_a_forged_file_has_are_shown_short(number):
    stored = cross_validated().to_dict()
    for column in ("relevance", "chance", "worth", "swap_loss", "shared_part", "p_value"):
        stored["explanation"][column] = [number] * len(stored["explanation"][column])
    for tried in stored["choice"]["combinations"]:
        for scores in ("mean_scores", "standard_errors"):
            tried[scores] = [number] * len(tried[scores])
    stored["provenance"]["seconds"] = {"search": abs(number)}
    html = report_page(result_facts(from_dict(stored)))
    assert not re.search(r"\d{60}", html)
    assert "NaN" not in html
    assert not re.search(r'="-?inf', html)


@pytest.mark.parametrize("mark", ["\u202e", "\ud800", "\x00", "\u2066", "x" * 5000])
def test_no_text_of_a_forged_file_reaches_the_page_as_it_is(mark, tmp_path):
    stored = ordinary().to_dict()
    for part, name in (("selection", "criterion"), ("selection", "strategy"), ("provenance", "fingerprint")):
        stored[part][name] += mark
    stored["provenance"]["picked"] = mark
    stored["provenance"]["versions"] = {mark: mark}
    stored["selection"]["features"] = [name + mark for name in stored["selection"]["features"]]
    loaded = from_dict(stored)
    loaded.to_html(tmp_path / "forged.html")
    for html in ((tmp_path / "forged.html").read_text(encoding="utf-8"), loaded._repr_html_()):
        assert mark not in html


def test_one_feature_is_spoken_of_as_one():
    alone = Read(
        report_page(
            result_facts(
                choose_subset(
                    tumours().iloc[:, [0, 1, -1]], "diagnosis", 1, criterion="jmi", measure="plugin", correction="none"
                )
            )
        )
    )
    assert alone.says("Value of this feature")
    assert alone.says("are a feature left out: the one whose exchange for a chosen one would lose least.")
    assert Read(ordinary_page()).says("10 features left out: those whose exchange for a chosen one would lose least.")


@pytest.mark.parametrize("settings", [{"include": ["mean radius"]}, {"budget": 3.0, "costs": [1.0] * 30}])
def test_no_exchange_is_spoken_of_where_constraints_decide_on_them(settings):
    result = choose_subset(tumours(), "diagnosis", 3, strategy="forward", **jmi(counted(settings)))
    read = Read(report_page(result_facts(result)))
    assert read.says("are 10 features left out: the most relevant.")
    assert not read.says("exchange")


def test_features_that_are_nearly_copies_do_not_share_all():
    facts = result_facts(ordinary())
    facts["redundancy"]["parts"] = [[1.0, 0.9951], [0.9951, 1.0]]
    facts["redundancy"] |= {"columns": facts["chosen"][:2], "n_chosen": 2, "n_runners_up": 0}
    assert Read(report_page(facts)).says("> 99 %")
    nearly = np.array([[1.0, 0.99999], [0.99999, 1.0 - 1e-12]])
    assert in_four_digits(nearly).tolist() == [[1.0, 0.9999], [0.9999, 1.0]]
