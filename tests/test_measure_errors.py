"""What the tables of docs/data.md compare with is true, and they say what the results kept say."""

import importlib
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import chi2, multivariate_normal, norm

ROOT = Path(__file__).parent.parent
MODULES = ("closed_forms", "measure_cases", "measure_errors")


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield {name: importlib.import_module(name) for name in MODULES}
    sys.path.remove(str(ROOT / "benchmarks"))
    for name in MODULES:
        del sys.modules[name]


@pytest.fixture(scope="module")
def forms(modules):
    return modules["closed_forms"]


@pytest.fixture(scope="module")
def cases(modules):
    return modules["measure_cases"].CASES


@pytest.fixture(scope="module")
def script(modules):
    return modules["measure_errors"]


@pytest.fixture(scope="module")
def results(script):
    return script.read_results(script.RESULTS)


# The closed forms, by other means


def loops(joint):
    """Mutual information of a list of lists, term by term."""
    rows = [sum(line) for line in joint]
    columns = [sum(line[j] for line in joint) for j in range(len(joint[0]))]
    return sum(
        p * math.log(p / (rows[i] * columns[j])) for i, line in enumerate(joint) for j, p in enumerate(line) if p > 0
    )


def test_tables(forms):
    joint = [[0.1, 0.2, 0.0], [0.3, 0.15, 0.25]]
    assert forms.information_in_table(np.array(joint)) == pytest.approx(loops(joint), abs=1e-12)
    assert forms.information_in_table(np.full((4, 5), 0.05)) == pytest.approx(0.0, abs=1e-12)


def test_columns_of_a_class(forms):
    given = forms.kept_label(3, 0.6)
    assert given.tolist() == [[pytest.approx(0.6 if i == j else 0.2) for j in range(3)] for i in range(3)]
    joint = [[given[c][i] * given[c][j] / 3 for i in range(3) for j in range(3)] for c in range(3)]
    assert forms.information_in_table(forms.class_table(given, 2)) == pytest.approx(loops(joint), abs=1e-12)
    assert forms.flipped_bit(0.1) == pytest.approx(math.log(2) + 0.1 * math.log(0.1) + 0.9 * math.log(0.9), abs=1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.7])
def test_normal_numbers(forms, correlation):
    grid = np.linspace(-8, 8, 401)
    x, y = np.meshgrid(grid, grid)
    covariance = [[1, correlation], [correlation, 1]]
    logarithm = multivariate_normal([0, 0], covariance).logpdf(np.dstack([x, y]))
    told = np.exp(logarithm) * (logarithm - norm.logpdf(x) - norm.logpdf(y))
    assert forms.gaussian(correlation) == pytest.approx(told.sum() * (grid[1] - grid[0]) ** 2, abs=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.7, 0.95])
def test_two_normal_columns_of_a_number(forms, correlation):
    r = correlation
    all_three = np.array([[1, r, r], [r, 1, r * r], [r, r * r, 1]])
    by_determinants = 0.5 * math.log(np.linalg.det(all_three[1:, 1:]) / np.linalg.det(all_three))
    assert forms.gaussian_views(correlation, 2) == pytest.approx(by_determinants, abs=1e-9)
    assert forms.gaussian_views(correlation, 1) == pytest.approx(forms.gaussian(correlation), abs=1e-12)


@pytest.mark.parametrize("means", [(0.0, 1.0), (0.0, 2.0), (0.0, 1.0, 2.0, 3.0, 4.0)])
def test_shifted_normals(forms, means):
    x = np.linspace(-8, 12, 401)
    step = x[1] - x[0]
    given = np.array([norm.pdf(x, mean) for mean in means])
    joint = np.maximum(given * step / len(means), 1e-300)
    assert forms.shifted_normals(means) == pytest.approx(forms.information_in_table(joint), abs=1e-6)
    both = given[:, :, None] * given[:, None, :] * step**2 / len(means)
    assert forms.shifted_normals(means, 2) == pytest.approx(forms.information_in_table(both), abs=1e-6)


def test_rounded_normals(forms):
    given = forms.rounded_normals((0.0, 1.0), 0.5)
    assert given.sum(1) == pytest.approx([1, 1], abs=1e-12)
    zero = given.shape[1] // 2
    assert given[:, zero] == pytest.approx(norm.cdf([0.25, -0.75]) - norm.cdf([-0.25, -1.25]))
    fine = forms.information_in_table(forms.class_table(forms.rounded_normals((0.0, 1.0), 0.01)))
    assert fine == pytest.approx(forms.shifted_normals((0.0, 1.0)), abs=1e-5)


def test_rounded_column_and_number(forms):
    y = np.linspace(-8, 8, 801)
    inner = np.arange(-4, 4.1, 0.5) - 0.25
    cells = np.diff(norm.cdf((inner - 0.7 * y[:, None]) / math.sqrt(1 - 0.49)), axis=1)
    marginal = np.diff(norm.cdf(inner))
    divergence = np.where(cells > 0, cells * (np.log(np.maximum(cells, 1e-300)) - np.log(marginal)), 0).sum(1)
    assert forms.rounded_and_number(0.7, 0.5) == pytest.approx(trapezoid(norm.pdf(y) * divergence, y), abs=1e-3)
    assert forms.rounded_and_number(0.7, 0.02) == pytest.approx(forms.gaussian(0.7), abs=1e-4)


def test_rounded_pair(forms):
    joint = forms.rounded_pair(0.49, 0.5)
    assert joint.sum() == pytest.approx(1, abs=1e-12)
    assert joint == pytest.approx(joint.T, abs=1e-12)
    below = multivariate_normal([0, 0], [[1, 0.49], [0.49, 1]], seed=0).cdf
    zero = len(joint) // 2
    for i, j in ((0, 0), (1, -2), (3, 2)):
        a, b = 0.5 * i - 0.25, 0.5 * j - 0.25
        cell = below([a + 0.5, b + 0.5]) - below([a, b + 0.5]) - below([a + 0.5, b]) + below([a, b])
        assert joint[zero + i, zero + j] == pytest.approx(cell, abs=1e-6)


def test_counts(forms):
    given = forms.poisson_counts([1.0, 3.0])
    by_hand = [[math.exp(-rate) * rate**k / math.factorial(k) / 2 for k in range(40)] for rate in (1.0, 3.0)]
    assert forms.information_in_table(forms.class_table(given)) == pytest.approx(loops(by_hand), abs=1e-9)


def test_noisy_square(forms):
    """By the mean logarithm of p(y|x) / p(y), where p(y) comes from the chi-squared density without its pole."""
    noise = 0.5
    node, weight = np.polynomial.legendre.leggauss(250)
    size, by_size = 3.5 * (node + 1), 3.5 * weight  # of x, from 0 to 7
    weight_of_size = by_size * 2 * size * chi2.pdf(size**2, 1)
    error, weight_of_error = np.polynomial.hermite_e.hermegauss(40)
    y = size[:, None] ** 2 + noise * error
    density = np.array([weight_of_size @ norm.pdf(some, size[:, None] ** 2, noise) for some in y])
    mean = weight_of_size @ (norm.logpdf(y, size[:, None] ** 2, noise) - np.log(density)) @ weight_of_error
    assert forms.noisy_square(noise) == pytest.approx(mean / math.sqrt(2 * math.pi), abs=1e-6)


# The tables drawn, by counting many rows in many cells


def in_levels(values, bins):
    """Equal counts; values that many rows share keep a level of their own."""
    shared, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(shared) <= 30:
        return codes
    rest = counts[codes] <= len(values) / (2 * bins)
    levels = codes + bins  # no bin's number
    levels[rest] = np.argsort(np.argsort(values[rest])) * max(4, round(bins * rest.mean())) // rest.sum()
    return np.unique(levels, return_inverse=True)[1]


def counted(a, b):
    """Plug-in estimate with the first-order correction for bias."""
    joint = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(joint, (a, b), 1)
    seen = [np.count_nonzero(joint.sum(1)), np.count_nonzero(joint.sum(0)), np.count_nonzero(joint)]
    p = joint / len(a)
    seen_cells = p > 0
    told = (p[seen_cells] * np.log(p[seen_cells] / np.outer(p.sum(1), p.sum(0))[seen_cells])).sum()
    return told + (seen[0] + seen[1] - seen[2] - 1) / (2 * len(a))


def test_cases_are_what_they_are_said_to_be(cases):
    for case in cases:
        X, y = case.draw(np.random.default_rng(0), 60_000)
        for question in case.questions:
            single = question.term == "relevance"
            bins = 16 if question.term == "joint_relevance" else 60
            first, *others = (in_levels(X[:, column], bins) for column in question.columns)
            if question.term == "redundancy":
                found = counted(first, others[0])
            else:
                found = counted(first if single else first * 100 + others[0], in_levels(y, bins))
            within = pytest.approx(question.truth, abs=0.012, rel=0.16 if bins == 16 else 0.1)
            # 60 bins do not tell a near copy from a copy.
            assert found > 3 if question.truth > 3 else found == within, (case.name, case.asked(question), found)


def test_levels_and_classes_are_passed_as_whole_numbers(cases):
    for case in cases:
        X, y = case.draw(np.random.default_rng(0), 30)
        assert (X.dtype.kind in "iu") == (case.family == "discrete" or "levels" in case.name or "counts" in case.name)
        if "class" in case.name:
            assert y.dtype.kind in "iu"
        elif "number" in case.name:
            assert y.dtype.kind == "f"


# The results and the page


def test_results_have_every_question_measure_and_number_of_rows(script, results, cases):
    asked = [
        (case.family, case.name, case.asked(question), measure)
        for case in cases
        for measure in script.MEASURES
        for question in case.questions
    ]
    assert [(found.family, found.case, found.asked, found.measure) for found in results.errors] == asked
    assert len(set(asked)) == len(asked)
    assert dict(zip(results.rows, results.repetitions, strict=True)) == script.REPETITIONS
    for found in results.errors:
        assert len(found.bias) == len(found.rms) == len(found.lowest) == len(results.rows)
        assert all(rms >= abs(bias) - 1e-5 for rms, bias in zip(found.rms, found.bias, strict=True))
        assert (found.below_half is not None) == (", " in found.asked)
        assert (found.picked is not None) == (found.measure == "auto")


def test_results_have_the_true_values_of_today(results, cases):
    truths = {(case.name, case.asked(question)): question.truth for case in cases for question in case.questions}
    for found in results.errors:
        assert found.truth == pytest.approx(truths[found.case, found.asked], abs=1e-5)


@pytest.mark.parametrize("family", ["tied", "copies"])
def test_the_results_are_those_of_todays_measures(script, results, cases, family):
    """The first case of a family, with the fewest rows, measured again."""
    place = next(place for place, case in enumerate(cases) if case.family == family)
    fewest = min(script.REPETITIONS)
    again = script.case_errors(place, {fewest: script.REPETITIONS[fewest]})
    told = [found for found in results.errors if (found.family, found.case) == (family, cases[place].name)]
    kept = {(found.measure, found.asked): found for found in told}
    assert {found.measure for found in again} == set(script.MEASURES)
    for found in again:
        assert found.bias[0] == pytest.approx(kept[found.measure, found.asked].bias[0], abs=2e-5)


def test_the_page_is_what_the_results_make_of_it(script, tmp_path):
    made = tmp_path / "data.md"
    made.write_text(f"before\n{script.BEGIN}\nold\n{script.END}\nafter\n")
    script.main(["--page", "--out", str(made)])
    text = made.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert text[len("before\n") : -len("\nafter\n")] in (ROOT / "docs" / "data.md").read_text()


def test_a_page_without_its_place_is_left_alone(script, tmp_path):
    made = tmp_path / "data.md"
    made.write_text("nothing here\n")
    with pytest.raises(SystemExit, match="no place for the tables"):
        script.main(["--page", "--out", str(made)])
    assert made.read_text() == "nothing here\n"
    with pytest.raises(SystemExit, match="no results are kept yet"):
        script.main(["--page", "--results", str(tmp_path / "none.json")])


def test_from_tables_to_page(script, cases, tmp_path, monkeypatch):
    told_of = ("5 levels, the class in 75 %", "5 levels, independent", "y = b + 0.3 c + noise")
    few = [case for case in cases if case.name in (*told_of, "98 % zeros, 10 classes, independent")]
    monkeypatch.setattr(script, "CASES", few)
    monkeypatch.setattr(script, "QUICK", {30: 2, 300: 1})
    page, kept = tmp_path / "data.md", tmp_path / "results" / "kept.json"
    page.write_text(f"{script.BEGIN}\n{script.END}\n")
    script.main(["--quick", "--processes", "1", "--results", str(kept), "--out", str(page)])
    results = script.read_results(kept)
    assert results.rows == (30, 300)
    assert json.loads(kept.read_text())["repetitions"] == [2, 1]
    assert len(results.errors) == sum(len(case.questions) for case in few) * len(script.MEASURES)
    again = script.case_errors(0, script.QUICK)
    assert list(results.errors[: len(again)]) == again  # the same seeds
    assert page.read_text() == script.section(results) + "\n"


def changed(results, only=None, **fields):
    """The same with some fields of every error changed, or of one question's by one measure."""

    def meant(error):
        return only is None or (error.of, error.measure) == (only.of, only.measure)

    return replace(results, errors=tuple(replace(e, **fields) if meant(e) else e for e in results.errors))


def test_sentences_follow_the_numbers(script, results):
    none, some = (0.0,) * len(results.rows), (0.0, 0.25, *(0.0,) * (len(results.rows) - 2))
    first = results.errors[0]
    joint = next(error for error in results.errors if error.below_half is not None)
    held = changed(results, below_half=none)
    assert script.of_halves(held) == "In no table was a pair's joint relevance below the relevance of its better half."
    assert script.of_halves(changed(held, joint, below_half=some)).startswith(
        "A pair's joint relevance was below the relevance of its better half with uniform by up to 0.250 "
        f"({joint.of}, {results.rows[1]} rows). Never with quantile, "
    )
    positive = changed(results, lowest=none)
    assert script.of_sign(positive) == "No estimate was below 0."
    negative = changed(positive, first, lowest=(-0.5, *none[1:]))
    assert script.of_sign(negative).startswith("Estimates below 0 were found by uniform (-0.500); the lowest")
    exact = changed(results, bias=none)
    assert script.of_growth(exact).endswith("grows by more than 0.02 nats nowhere.")
    worse = changed(exact, first, bias=(*none[1:], -0.1))
    counted = len(results.within_reach("uniform"))
    assert f"with uniform in 1 of {counted} questions, by 0.100 in {first.of}." in script.of_growth(worse)
    assert script.of_copies(exact).endswith("by every measure.")
    of_copy = next(e for e in exact.errors if e.asked == "I(b, copy; y)" and e.measure == "copula")
    fooled = changed(exact, of_copy, bias=(*none[1:], 1.0))
    assert script.of_copies(fooled).endswith("but not by copula (the copy).")


def test_numbers_on_the_page(script):
    assert [script.nats(value) for value in (-0.0001, 0.0, -1.2345, 0.0006)] == ["0.000", "0.000", "-1.234", "0.001"]
    assert [script.count(rows) for rows in (30, 3000, 30_000)] == ["30", "3000", "30 000"]
    assert script.emphasised(-0.11) == "**-0.110**"
    assert script.emphasised(0.1) == "0.100"
