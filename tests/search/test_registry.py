"""Strategies and criteria from outside the package: registered, brought by other packages, refused."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import certselect
from certselect import Criterion, Strategy, SubsetProblem, information_terms, select, selection_path, subset_problem
from certselect.criteria import SameWeight, find_criterion, known, list_criteria, register_criterion
from certselect.criteria.known import ALIASES, criterion_names
from certselect.errors import InvalidInput
from certselect.search import find_strategy, list_strategies, register_strategy, registry
from certselect.search.found import Evidence, Proved
from certselect.search.registry import strategy_names

BUILT_IN = [
    "annealing",
    "backward",
    "cobra",
    "exact",
    "exhaustive",
    "floating",
    "forward",
    "genetic",
    "qpfs",
    "relevance",
    "soss",
]


@pytest.fixture(autouse=True)
def forgets(monkeypatch):
    """What a test registers is gone after it."""
    for registered in (registry._registry, known._registry):
        monkeypatch.setattr(registered, "_registered", dict(registered._registered))


def last_candidates(problem, found, rng, /, *, skip: int = 0):
    """The candidates that come last: nobody's choice but the test's."""
    stop = len(problem.candidates) - skip
    found.indices = problem.candidates[stop - problem.k : stop].tolist()


LAST = Strategy("last", last_candidates, "the last k columns")
HALF = Criterion("half_mifs", "redundancy", SameWeight(0.5), "sum I(Xi;C) - 1/2 sum I(Xi;Xj)")


@pytest.fixture(scope="module")
def terms():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    return information_terms((rng.integers(0, 3, (80, 7)) + y[:, None]) % 3, y, measure="plugin", correction="none")


def test_a_registered_strategy_is_used_as_any_other(terms):
    certselect.register_strategy(LAST)
    problem = subset_problem(terms, 3, criterion="jmi")
    selection = select(problem, "last")
    assert selection.indices.tolist() == [4, 5, 6]
    assert (selection.strategy, selection.status) == ("last", "complete")
    assert selection.objective == problem.value([4, 5, 6])
    assert select(problem, "Last", skip=2).indices.tolist() == [2, 3, 4]
    assert select(problem, "last", strategy_options={"skip": 1}, polish=True).objective >= problem.value([3, 4, 5])
    assert select(problem, "last", certify=True).upper_bound >= select(problem, "exhaustive").objective
    path = selection_path(terms, [1, 2], strategy="last", strategy_options={"skip": 1}, criterion="jmi")
    assert [one.indices.tolist() for one in path] == [[5], [4, 5]]
    with pytest.raises(InvalidInput) as error:
        select(problem, "last", skp=2)
    assert str(error.value) == "Got skp=2 with strategy='last'; expected only the options skip. Did you mean 'skip'?"


def of_many_types(
    problem,
    found,
    rng,
    /,
    *,
    tries: int = 1,
    share: float | None = None,
    quick: bool = False,
    way: "str" = "up",
    start: "NotDefined" = None,  # noqa: F821
    any=0,
):
    found.indices = problem.candidates[: problem.k].tolist()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"tries": "x"},
            "Got tries='x' with strategy='typed'; expected a whole number. Leave tries out for its default.",
        ),
        ({"tries": True}, "tries=True"),
        ({"tries": 1.5}, "tries=1.5"),
        ({"tries": None}, "tries=None"),
        ({"share": "x"}, "expected a number or None"),
        ({"quick": 1}, "expected True or False"),
        ({"way": 3}, "expected text"),
    ],
)
def test_options_of_the_wrong_type_are_refused(terms, given, said):
    problem = subset_problem(terms, 3, criterion="jmi")
    with pytest.raises(InvalidInput) as error:
        select(problem, Strategy("typed", of_many_types, "takes options"), strategy_options=given)
    assert said in str(error.value)


def test_options_of_the_right_type_pass(terms):
    problem, typed = subset_problem(terms, 3, criterion="jmi"), Strategy("typed", of_many_types, "takes options")
    given = {"tries": np.int64(2), "share": 1, "quick": np.True_, "way": "down", "start": "x", "any": []}
    assert select(problem, typed, strategy_options=given).indices.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("answer", "constraints"),
    [
        ([0, 1], {"feature_groups": {"at_most_one": [[0, 1]]}}),
        ([0], {"feature_groups": {"at_most_one": [[0, 1]]}, "include": [1]}),
        ([0, 1, 2], {"include": [4], "feature_groups": [[3, 4]]}),
        ([0, 1], {"costs": [1.0, 2.0, 0.0, 0.0, 0.0], "budget": 2.0}),
        ([3, 1], {"exclude": [3]}),
        ([0, 0], {}),
        ([0, 5], {}),
        ([-1, 0], {}),
    ],
)
def test_answers_that_no_rule_allows_are_refused(answer, constraints):
    def answers(problem, found, rng, /):
        found.indices = list(answer)

    register_strategy(Strategy("careless", answers, "heeds no rules"))
    with pytest.raises(InvalidInput) as error:
        select(SubsetProblem.from_matrix(np.eye(5), 2, **constraints), "careless")
    assert str(error.value) == (
        f"Got the units {answer} from strategy='careless'; expected units that its problem's rules allow together. "
        "Report this to the strategy's author."
    )


@pytest.mark.parametrize(("answer", "settled"), [([2], [2, 0]), ([4, 3, 1], [1, 3]), ([3, 1], [3, 1])])
def test_answers_of_another_size_are_brought_to_k(answer, settled):
    def answers(problem, found, rng, /):
        found.indices = list(answer)

    register_strategy(Strategy("hasty", answers, "stops early or late"))
    assert select(SubsetProblem.from_matrix(np.diag([5.0, 4, 3, 2, 1]), 2), "hasty").indices.tolist() == settled


def test_a_strategy_that_fills_nothing_is_refused():
    register_strategy(Strategy("returning", lambda problem, found, rng, /: [0, 1], "returns what it should fill in"))
    with pytest.raises(InvalidInput, match="no units from strategy='returning'"):
        select(SubsetProblem.from_matrix(np.eye(5), 2), "returning")


def test_what_a_strategy_says_of_its_own_answer_is_no_proof():
    def boasts(problem, found, rng, /):
        found.indices, found.status = [3, 4], "proven optimal"

    selection = select(SubsetProblem.from_matrix(np.diag([5.0, 4, 3, 2, 1]), 2), Strategy("boasting", boasts, "lies"))
    assert (selection.status, selection.statement) == ("complete", "")
    assert np.isnan(selection.upper_bound)


def test_no_answer_holds_what_may_not_be_chosen_whatever_its_size():
    def answers(problem, found, rng, /):
        found.indices, found.any_size = [2, 3, 4], True

    with pytest.raises(InvalidInput, match="units that its problem's rules allow"):
        select(SubsetProblem.from_matrix(np.eye(5), 2, exclude=[4]), Strategy("loose", answers, "heeds no rules"))


@pytest.mark.parametrize(
    "wrong",
    [{"run": 5}, {"nested": True}, {"warm_start": True}, {"scores": "rising"}],
)
def test_records_that_cannot_work_are_refused_when_they_are_made(wrong):
    with pytest.raises(InvalidInput):
        Strategy(**{"name": "wrong", "run": lambda problem, found, rng, /: None, "summary": "none", **wrong})


@pytest.mark.parametrize("wrong", [{"pair": "redundant"}, {"weight": 0.5}])
def test_criteria_that_cannot_work_are_refused_when_they_are_made(wrong):
    with pytest.raises(InvalidInput):
        certselect.Criterion(**{"name": "wrong", "pair": None, "weight": SameWeight(1.0), "formula": "", **wrong})


def test_a_registered_strategy_is_listed(terms):
    assert list(list_strategies()) == BUILT_IN
    register_strategy(LAST)
    assert list(list_strategies()) == [*BUILT_IN, "last"]
    assert list_strategies()["last"] is certselect.list_strategies()["last"] is find_strategy("LAST") is LAST
    assert LAST.options == {"skip": 0}
    assert strategy_names() == ["auto", *BUILT_IN, "last"]


def test_a_registered_criterion_is_used_as_any_other(terms):
    certselect.register_criterion(HALF)
    problem = subset_problem(terms, 3, "Half_MIFS")
    assert problem.criterion is HALF
    mifs = subset_problem(terms, 3, "mifs", beta=0.5)
    assert problem.value([0, 2, 5]) == pytest.approx(mifs.value([0, 2, 5]), rel=1e-14)
    selection = select(problem, "exhaustive")
    assert selection.criterion == "half_mifs"
    assert selection.indices.tolist() == select(mifs, "exhaustive").indices.tolist()
    assert selection_path(terms, [3], "half_mifs", "exhaustive")[0].indices.tolist() == selection.indices.tolist()
    assert list(list_criteria()) == [*known.OWN, "half_mifs"]
    assert criterion_names() == [*list_criteria(), *ALIASES]
    with pytest.raises(InvalidInput, match=r"beta=2\.0 with criterion='half_mifs'"):
        subset_problem(terms, 3, "half_mifs", beta=2)


def test_what_was_registered_can_be_replaced(terms):
    register_strategy(LAST)
    other = Strategy("last", lambda problem, found, rng, /: None, "nothing")
    register_strategy(other)
    assert find_strategy("last") is other
    register_criterion(HALF)
    register_criterion(Criterion("half_mifs", None, SameWeight(0.0), "sum I(Xi;C)"))
    assert find_criterion("half_mifs").pair is None


@pytest.mark.parametrize("name", [*BUILT_IN, "auto"])
def test_names_of_strategies_that_are_taken(name):
    with pytest.raises(InvalidInput) as error:
        register_strategy(Strategy(name, last_candidates, "another"))
    assert str(error.value) == (
        f"Got a strategy named {name!r}; expected a name that is not taken. Choose another name."
    )


@pytest.mark.parametrize("name", ["jmi", "mrmr", "mifs", "d1", "max_relevance", "cife", "d2"])
def test_names_of_criteria_that_are_taken(name):
    with pytest.raises(InvalidInput) as error:
        register_criterion(Criterion(name, "redundancy", SameWeight(0.5), "another"))
    assert str(error.value) == (
        f"Got a criterion named {name!r}; expected a name that is not taken. Choose another name."
    )


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "last",
        last_candidates,
        HALF,
        Strategy("", last_candidates, "no name"),
        Strategy("Last", last_candidates, "not in lower case"),
        Strategy(3, last_candidates, "no str"),
    ],
)
def test_only_strategies_can_be_registered_as_such(wrong):
    with pytest.raises(InvalidInput) as error:
        register_strategy(wrong)
    assert str(error.value).endswith(
        "as a strategy; expected a Strategy with a name in lower case. Make one with certselect.Strategy(...)."
    )
    assert list(list_strategies()) == BUILT_IN


@pytest.mark.parametrize("wrong", [None, "half", LAST, Criterion("Half", None, SameWeight(0.0), "")])
def test_only_criteria_can_be_registered_as_such(wrong):
    with pytest.raises(InvalidInput) as error:
        register_criterion(wrong)
    assert str(error.value).endswith(
        "as a criterion; expected a Criterion with a name in lower case. Make one with certselect.Criterion(...)."
    )


@pytest.mark.parametrize(
    ("given", "nearest"), [("foward", "forward"), ("COBAR", "cobra"), ("exhaustve", "exhaustive"), ("lasst", "last")]
)
def test_unknown_strategies_are_answered_with_the_nearest(given, nearest):
    register_strategy(LAST)
    with pytest.raises(InvalidInput) as error:
        select(SubsetProblem.from_matrix(np.eye(3), 2), given)
    assert str(error.value) == (
        f"Got strategy={given!r}; expected one of {', '.join([*strategy_names()[1:], 'auto'])}. "
        f"Did you mean {nearest!r}?"
    )


@pytest.mark.parametrize(("given", "nearest"), [("jmy", "jmi"), ("mRMRR", "mrmr"), ("cifee", "cife"), ("mfis", "mifs")])
def test_unknown_criteria_are_answered_with_the_nearest(terms, given, nearest):
    with pytest.raises(InvalidInput) as error:
        subset_problem(terms, 2, given)
    assert str(error.value) == (
        f"Got criterion={given!r}; expected one of {', '.join(criterion_names())}. Did you mean {nearest!r}?"
    )


@pytest.mark.parametrize("wrong", [None, 3, ["jmi"], b"jmi"])
def test_names_are_str(terms, wrong):
    with pytest.raises(InvalidInput, match=r"Pass the name as a str\."):
        find_criterion(wrong)
    with pytest.raises(InvalidInput, match=r"Pass the name as a str\."):
        select(subset_problem(terms, 2, criterion="jmi"), wrong)


@pytest.mark.parametrize("given", ["COBRA", "Cobra", "cobra"])
def test_strategies_are_found_whatever_the_case(given):
    selection = select(SubsetProblem.from_matrix(np.diag([3.0, 2.0, 1.0]), 2), given, random_state=0)
    assert (selection.strategy, selection.indices.tolist()) == ("cobra", [0, 1])


@pytest.mark.parametrize(
    ("given", "name"), [("mRMR", "mrmr"), ("JMI", "jmi"), ("CIFE", "d1"), ("Max_Relevance", "max_relevance")]
)
def test_criteria_are_found_whatever_the_case(terms, given, name):
    assert subset_problem(terms, 2, given).criterion is known.CRITERIA[name]


THEIRS = """
from certselect import Criterion, Strategy
from certselect.criteria import SameWeight

def run(problem, found, rng, /, *, first=0):
    found.indices = problem.candidates[first : first + problem.k].tolist()

strategy = Strategy("theirs", run, "the first k columns")
criterion = Criterion("theirs", "redundancy", SameWeight(0.25), "sum I(Xi;C) - 1/4 sum I(Xi;Xj)")
misnamed = Strategy("other", run, "named otherwise")
no_strategy = print
"""
ENTRY_POINTS = """
[certselect.strategies]
theirs = pkg:strategy
misnamed = pkg:misnamed
wrong = pkg:no_strategy
absent = pkg_that_is_not_there:strategy
{more}
[certselect.criteria]
theirs = pkg:criterion
"""


def run_beside_their_package(folder: Path, code: str, more: str = "") -> str:
    """What a new process prints where another package brings a strategy and a criterion."""
    (folder / "pkg.py").write_text(THEIRS)
    info = folder / "pkg-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS.format(more=more))
    source = Path(certselect.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(source)])}
    script = "import numpy as np\nfrom certselect import *\n" + textwrap.dedent(code)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_other_packages_bring_strategies_and_criteria(tmp_path):
    code = """
    import sys
    from certselect.criteria import find_criterion
    problem = SubsetProblem.from_matrix(np.diag([1.0, 2.0, 3.0, 4.0]), 2)
    assert "pkg" not in sys.modules  # nothing is loaded before it is asked for
    select(problem, "forward")
    assert "pkg" not in sys.modules
    selection = select(problem, "Theirs")
    print(selection.strategy, selection.indices.tolist(), select(problem, "theirs", first=1).indices.tolist())
    rng = np.random.default_rng(0)
    terms = information_terms(rng.integers(0, 3, (50, 4)), rng.integers(0, 2, 50))
    found = find_criterion("THEIRS")
    print(found.name, found.weight(7), find_criterion("theirs") is found)
    mine, mifs = subset_problem(terms, 3, "theirs"), subset_problem(terms, 3, "mifs", beta=0.25)
    print(select(mine, "exhaustive").criterion, abs(mine.value([0, 1, 3]) - mifs.value([0, 1, 3])) < 1e-15)
    """
    assert run_beside_their_package(tmp_path, code).splitlines() == [
        "theirs [0, 1] [1, 2]",
        "theirs 0.25 True",
        "theirs True",
    ]


def test_entry_points_that_keep_no_promise(tmp_path):
    code = """
    problem = SubsetProblem.from_matrix(np.eye(3), 1)
    for name in ("misnamed", "wrong", "absent"):
        try:
            select(problem, name)
        except Exception as error:
            print(type(error).__name__, error)
    print(select(problem, "theirs").indices.tolist())
    """
    said = run_beside_their_package(tmp_path, code).splitlines()
    assert said[0] == (
        "InvalidInput Got the entry point 'misnamed' of certselect.strategies, which holds a strategy named 'other'; "
        "expected the same name for both. Tell those who wrote that package."
    )
    assert said[1].startswith("InvalidInput Got <built-in function print> as a strategy; expected a Strategy")
    assert said[2].startswith("ModuleNotFoundError") or "pkg_that_is_not_there" in said[2]
    assert said[3] == "[0]"


def test_what_is_installed_is_looked_through_once(monkeypatch, terms):
    """Going through all installed packages takes milliseconds, a small search less than one."""
    looked = []
    for registered in (registry._registry, known._registry):
        registered.__dict__.pop("_brought", None)
    monkeypatch.setattr("certselect.registered.entry_points", lambda *, group: looked.append(group) or [])
    for _ in range(3):
        select(subset_problem(terms, 2, "mrmr"), "forward")
    assert looked == []  # for names that are known without them, not at all
    for _ in range(3):
        list_strategies()
        list_criteria()
    assert sorted(looked) == ["certselect.criteria", "certselect.strategies"]
    for registered in (registry._registry, known._registry):
        registered.__dict__.pop("_brought", None)


def test_an_entry_point_cannot_take_the_place_of_a_built_in(tmp_path):
    code = """
    problem = SubsetProblem.from_matrix(np.diag([1.0, 2.0, 3.0]), 1)
    print([select(problem, name, random_state=0).indices.tolist() for name in ("forward", "Floating", "auto")])
    """
    clashes = "forward = pkg:strategy\nFloating = pkg:strategy\nauto = pkg:strategy"
    assert run_beside_their_package(tmp_path, code, clashes).splitlines() == ["[[2], [2], [2]]"]


def test_a_proof_of_another_package_is_not_believed():
    """Not even one in the words of this package: what it says was proved would stand as it is."""

    def lying(problem, found, rng, /):
        found.indices = [0, 1]
        worth = problem.value([0, 1])
        found.evidence = Evidence(proved=Proved(worth, worth, worth, None))

    problem = SubsetProblem.from_matrix(np.diag([1.0, 2.0, 3.0, 4.0]), 2)
    for certify in (False, True, "tight"):
        answer = select(problem, Strategy("exhaustive", lying, "the first two"), certify=certify)
        assert answer.status == "complete"
        assert np.isnan(answer.upper_bound) if certify is False else answer.upper_bound >= 7.0
