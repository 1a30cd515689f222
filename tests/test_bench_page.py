"""Results are compared by their ratios, and docs/benchmarks.md says what the results kept say."""

import copy
import json
import sys
from pathlib import Path

import pytest

from pictures import without_names

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module", autouse=True)
def benchmarks():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield
    sys.path.remove(str(ROOT / "benchmarks"))


def made_up(**changes):
    """Two cases: one that ours wins against all, and one that somebody else wins."""

    def about(median, **facts):
        return {"seconds": {"median": median, "fastest": median, "slowest": 2 * median, "runs": 3}, **facts}

    right = {"value": 0.5, "right": 50, "shared": 50, "asked": 50, "gap": 0.0123}
    sizes = {"rows": 2000, "columns": 500, "k": 50}
    rows = [
        {
            "key": f"forward: 2000 x 500, {shown}, k = 50",
            "job": "forward",
            "label": f"2000 x 500, {shown}, k = 50",
            "source": "generated",
            **sizes,
            "criterion": criterion,
            "contestants": {
                "certselect": about(0.01, **right),
                "NumPy greedy": about(spent, **right),
                "praznik": {"missing": "not installed (no Rscript)"},
            },
        }
        for criterion, shown, spent in (("jmi", "JMI", 0.2), ("mrmr", "mRMR", 0.005))
    ]
    facts = {"processor": "a processor", "cores": 2, "system": "Linux", "python": "3.11", "packages": {"numpy": "2"}}
    results = {"set": "short", "machine": facts, "differences": {}, "cases": rows}
    for key, value in changes.items():
        results["cases"][0]["contestants"]["certselect"][key] = value
    return results


def slower(results, name, times):
    changed = copy.deepcopy(results)
    for row in changed["cases"]:
        for about in (row["contestants"][one] for one in row["contestants"] if name in (one, "everybody")):
            if "seconds" in about:
                about["seconds"]["median"] *= times
    return changed


def test_the_check_compares_ratios_and_can_fail():
    from contestants.check import TOLERANCE, compared, report

    kept = made_up()
    same = compared(kept, kept)
    assert (same.compared, same.fails) == (2, False)
    assert not compared(kept, slower(kept, "everybody", 10)).fails, "another machine"
    assert not compared(kept, slower(kept, "certselect", TOLERANCE / 1.01)).fails
    assert not compared(kept, slower(kept, "certselect", 0.1)).fails
    lost = compared(kept, slower(kept, "certselect", 1.01 * TOLERANCE))
    assert lost.fails
    assert len(lost.losses) == 2
    assert "slower: forward: 2000 x 500, JMI, k = 50: 20 times as fast as NumPy greedy before, 12.4" in report(lost)


def test_a_wrong_answer_and_nothing_to_compare_fail_as_well():
    from contestants.check import compared, report

    wrong = compared(made_up(), made_up(right=49))
    assert wrong.fails
    assert "not the reference's choice: forward: 2000 x 500, JMI, k = 50" in report(wrong)
    failed = made_up()
    failed["cases"][1]["contestants"]["certselect"] = {"failed": "MemoryError: "}
    assert compared(made_up(), failed).wrong == ["forward: 2000 x 500, mRMR, k = 50"]
    other = made_up()
    for row in other["cases"]:
        row["source"] = "Madelon"
    assert compared(made_up(), other).fails
    assert "Nothing to compare" in report(compared(made_up(), other))


def test_the_command_checks_files(tmp_path, capsys):
    import bench
    from contestants import results

    kept, new = tmp_path / "kept.json", tmp_path / "new.json"
    results.write(made_up(), kept)
    assert results.read(kept) == made_up()
    for found, code in ((made_up(), 0), (slower(made_up(), "certselect", 3.0), 1)):
        results.write(found, new)
        with pytest.raises(SystemExit) as ended:
            bench.main(["check", "--new", str(new), "--kept", str(kept)])
        assert ended.value.code == code
    assert "6.67 times now" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        bench.main(["short", "no such job"])


def test_from_a_case_to_the_page(tmp_path):
    import bench
    from bench_page import page_text
    from contestants import choosers, results
    from contestants.match import Case
    from contestants.tables import Shape

    case = Case(
        "forward",
        "60 x 8, mRMR, k = 3",
        lambda: choosers.forward(Shape(60, 8, 3, 2), 3, "mrmr", only_same=True),
        {"rows": 60, "columns": 8, "k": 3, "criterion": "mrmr"},
    )
    row = bench.measured(case, bench.Effort(1, 0.0, 1.0))
    ours = row["contestants"]["certselect"]
    assert (ours["right"], ours["asked"], ours["seconds"]["runs"]) == (3, 3, 1)
    assert results.ratios(row)["NumPy greedy"] > 0
    text = page_text({"set": "short", "machine": results.machine(), "differences": {}, "cases": [json_copy(row)]})
    assert "| 60 x 8 | mRMR | 3 |" in text


def json_copy(found):
    return json.loads(json.dumps(found))


def test_the_page_says_where_somebody_else_is_better():
    from bench_page import page_text

    text = page_text(made_up()).replace("\n  ", " ")
    assert "faster than everybody else with the same criterion in 1 of 2 cases, by up to 20 times" in text
    assert "at worst it took 2.0 times as long as NumPy greedy (2000 x 500, mRMR, k = 50)" in text
    assert "* forward: 2000 x 500, mRMR, k = 50: NumPy greedy, 2.0 times as fast." in text
    assert "| 2000 x 500 | mRMR | 50 | 10 (10 to 20) | **0.5** | 50 of 50 |" in text
    assert "praznik: not installed (no Rscript) (2 cases" in text
    assert "| 2000 x 500, JMI, k = 50 | 0.5000 | 1.23 | certselect, NumPy greedy |" in text


def test_what_is_estimated_is_said_to_be():
    from bench_page import page_text

    text = page_text(made_up())
    assert "This is an estimate, not a measurement" in text.replace("\n", " ")
    assert "| 2000 x 500 | JMI | 9.0 |" in text  # 20 x 0.083 / 0.184
    assert "| 2000 x 500 | mRMR | 6.1 |" in text  # 20 x 0.056 / 0.184, through NumPy's JMI
    measured = made_up()
    measured["cases"][0]["contestants"]["praznik"] = measured["cases"][0]["contestants"]["NumPy greedy"]
    assert "estimate" not in page_text(measured)


def test_results_of_a_busy_machine_are_called_rough_and_nothing_is_estimated_from_them():
    from bench_page import page_text

    rough = "These results are rough"
    quiet, busy, noted = ({**made_up(), "load_before": load} for load in (0.1, 3.2, 0.1))
    noted["notes"] = ["So."]
    assert rough not in page_text(quiet)
    assert rough in page_text(busy)
    assert "3.2 cores before the run" in page_text(busy).replace("\n", " ")
    assert "So." in page_text(noted)
    assert "### praznik, estimated" in page_text(quiet)
    assert "### praznik, estimated" not in page_text(busy)


def test_numbers_on_the_page():
    from bench_page import exponent
    from bench_shown import milliseconds, percent_up, times

    assert [times(ratio) for ratio in (None, 0.0312, 0.96, 1.04, 9.96, 312.4)] == [
        *("-", "**0.031**", "**0.96**", "1.0", "10", "312")
    ]
    assert [milliseconds(spent) for spent in (None, 0.00034, 0.0045, 0.0123, 2.5)] == ["-", "0.34", "4.5", "12", "2500"]
    assert [percent_up(gap) for gap in (0.0, 1e-9, 0.0123, 0.01231)] == ["0.00", "0.01", "1.23", "1.24"]
    assert exponent([(1, 3.0), (2, 6.0), (4, 12.0)]) == pytest.approx(1.0)


def test_the_page_and_its_pictures_are_what_the_results_make_of_them():
    from bench_figures import FIGURES, PICTURES, as_svg
    from bench_page import PAGE, page_text
    from contestants import results

    kept = results.read()
    assert page_text(kept) == PAGE.read_text(encoding="utf-8")
    for name, draw in PICTURES.items():
        shown = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
        assert without_names(shown) == without_names(as_svg(draw(kept["cases"]))), name


def test_results_are_of_the_cases_there_are():
    from contestants import results
    from contestants.cases import JOBS, all_cases

    kept = results.read()
    for long in (False, True):
        keys = [case.key for case in all_cases(long=long)]
        assert len(set(keys)) == len(keys)
        assert {case.job for case in all_cases(long=long)} == set(JOBS)
        if kept["set"] == ("all" if long else "short"):
            assert [row["key"] for row in kept["cases"]] == keys
