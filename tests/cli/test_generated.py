"""Options made from settings: a toy command has them all, and gets the settings they say."""

import inspect
import shlex
import subprocess
import sys
import types
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from certselect.cli.generated import SettingsCommand, with_settings
from certselect.errors import InvalidInput
from certselect.settings import Constraints, Settings, all_settings

# Where a setting is spelled otherwise than by its name.
SPELLED = {
    "feature_groups": ["--all-or-none", "--at-most-one"],
    "strategy_options": ["--option"],
    "kinds": ["--kind"],
    "certify": ["--certify", "--tight"],
    "random_state": ["--seed"],
}


def make_app(**decorator):
    """A toy command line, and the list in which its command leaves what it was called with."""
    app, calls = typer.Typer(pretty_exceptions_enable=False), []

    @app.command(cls=SettingsCommand)
    @with_settings(**decorator)
    def pick(
        table: Annotated[str, typer.Argument(help="A file.")],
        settings: Settings,
        jobs: Annotated[int, typer.Option(help="Threads.")] = 1,
    ) -> None:
        """Pick something."""
        calls.append((table, settings, jobs))

    @app.command()
    def other() -> None:
        """Do nothing."""

    return app, calls


def invoke(app, *arguments):
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "400", "NO_COLOR": "1", "TERM": "dumb"})


def called(*arguments, **decorator):
    """The settings that options say, and what was printed."""
    app, calls = make_app(**decorator)
    outcome = invoke(app, "pick", "table.csv", *arguments)
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == 0, outcome.output
    [(table, settings, _)] = calls
    assert table == "table.csv"
    return settings, outcome.output


@pytest.fixture
def registries(monkeypatch):
    """Stand-ins for the modules that know the names of criteria and strategies."""
    for name, function, names in (
        ("certselect.criteria.known", "criterion_names", ["jmi", "mrmr", "a_new_one"]),
        ("certselect.search.registry", "strategy_names", ["cobra", "another_new_one"]),
    ):
        stand_in = types.ModuleType(name)
        setattr(stand_in, function, lambda names=names: names)
        monkeypatch.setitem(sys.modules, name, stand_in)


def options_of(app):
    command = typer.main.get_command(app).commands["pick"]
    return {flag: parameter for parameter in command.params for flag in parameter.opts if flag.startswith("--")}


def test_every_setting_is_an_option_with_its_panel_and_help():
    app, _ = make_app()
    options = options_of(app)
    expected = {"--jobs", "--help"}
    for name, about in all_settings().items():
        for flag in SPELLED.get(name, [f"--{name.replace('_', '-')}"]):
            expected.add(flag)
            assert options[flag].rich_help_panel == about.panel
            assert options[flag].help.endswith(".")
            assert not options[flag].required
    assert set(options) | {"--help"} == expected


def test_defaults_are_those_of_the_settings_but_for_the_seed():
    settings, printed = called()
    assert settings == Settings.from_keywords({"random_state": 0})
    assert printed == ""


def test_the_commands_own_parameters_stay_where_they_are():
    app, calls = make_app()
    assert invoke(app, "pick", "t.csv", "--jobs", "3", "--bins", "7").exit_code == 0
    assert calls[0][0] == "t.csv"
    assert calls[0][1].measuring.bins == 7
    assert calls[0][2] == 3
    names = [parameter.name for parameter in typer.main.get_command(app).commands["pick"].params]
    assert names[0] == "table"
    assert names[-1] == "jobs"


def test_the_signature_shows_options_and_not_settings():
    @with_settings()
    def command(settings: Settings) -> None:
        """Words."""

    parameters = inspect.signature(command).parameters
    assert "settings" not in parameters
    assert {"bins", "seed", "tight", "at_most_one"} <= set(parameters)
    assert set(command.__annotations__) == set(parameters)
    assert command.__doc__ == "Words."


def test_each_spelling(tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("feature,cost\na,2\nb,0.5\n")
    line = f"""
        --task Regression --missing pairwise --weight w --kind zip=Levels --kind a=b=skip --copies All
        --measure plugin --correction Miller_Madow
        --discretize quantile --bins sturges --integers numbers --target-bins 4
        --include a --include b --exclude c --all-or-none a,b --all-or-none d,e,f --at-most-one g,h
        --costs '{costs}' --budget 3
        --max-shared 0.9 --criterion mrmr --beta 0.5 --gamma 0 --order 3 --strategy cobra --polish --certify
        --max-seconds 2.5 --device cpu --seed 7 --option draws=500 --option repair=best --option ties=True
        --option tol=1e-6 --option 'steps=[1, 2]' --option max-subsets=null --option a=b=c
    """
    settings, _ = called(*shlex.split(line))
    assert settings.flat() == {
        "task": "regression",
        "missing": "pairwise",
        "kinds": {"zip": "levels", "a=b": "skip"},
        "weight": "w",
        "measure": "plugin",
        "correction": "miller_madow",
        "n_neighbors": 5,
        "discretize": "quantile",
        "bins": "sturges",
        "integers": "numbers",
        "target_bins": 4,
        "include": ["a", "b"],
        "exclude": ["c"],
        "feature_groups": {"all_or_none": [["a", "b"], ["d", "e", "f"]], "at_most_one": [["g", "h"]]},
        "costs": {"a": 2.0, "b": 0.5},
        "budget": 3.0,
        "max_shared": 0.9,
        "copies": "all",
        "criterion": "mrmr",
        "beta": 0.5,
        "gamma": 0.0,
        "order": 3,
        "relevance": None,
        "strategy": "cobra",
        "strategy_options": {
            "draws": 500,
            "repair": "best",
            "ties": True,
            "tol": 1e-6,
            "steps": [1, 2],
            "max_subsets": None,
            "a": "b=c",
        },
        "polish": True,
        "certify": True,
        "max_seconds": 2.5,
        "device": "cpu",
        "random_state": 7,
    }


@pytest.mark.parametrize("flags", [["--tight"], ["--tight", "--certify"], ["--certify", "--tight"]])
def test_tight_says_more_than_certify(flags):
    assert called(*flags)[0].searching.certify == "tight"


def test_one_kind_of_group_alone():
    assert called("--at-most-one", "a,b")[0].constraints == Constraints(feature_groups={"at_most_one": [["a", "b"]]})


def test_bins_may_be_a_number():
    assert called("--bins", "12")[0].measuring.bins == 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--measure", "nieghbors"], "Did you mean 'neighbors'?"),
        (["--bins", "sturgess"], "Did you mean 'sturges'?"),
        (["--bins", "1"], "2 to 10000"),
        (["--n-neighbors", "0"], "1 or more"),
        (["--option", "draws"], "NAME=VALUE"),
        (["--option", "draws=1", "--option", "draws=2"], "two values for --option 'draws'"),
        (["--all-or-none", "a"], "two column names"),
        (["--budget", "3"], "without costs"),
        (["--costs", "nowhere.csv", "--budget", "3"], "cannot be read"),
    ],
)
def test_wrong_options_are_answered(arguments, words):
    with pytest.raises(InvalidInput) as caught:
        called(*arguments)
    assert words in str(caught.value)


def test_idle_settings_are_noted_without_a_line_of_code():
    _, printed = called("--n-neighbors", "4")
    assert printed == "note: --n-neighbors 4 has no effect with --measure auto.\n"


def test_a_command_may_do_without_some_settings():
    app, _ = make_app(without=("certify", "max_seconds"))
    assert not {"--certify", "--tight", "--max-seconds"} & set(options_of(app))
    settings, _ = called("--bins", "7", without=("certify", "max_seconds"))
    assert settings.searching.certify is False
    assert invoke(app, "pick", "t.csv", "--certify").exit_code == 2
    with pytest.raises(InvalidInput, match="Did you mean 'certify'"):
        with_settings(without=("certifi",))


def test_help_names_what_the_registries_know(registries):
    app, _ = make_app()
    # Twice: the first help must not spoil the second.
    outputs = [invoke(app, "pick", "--help").output for _ in range(2)]
    assert outputs[0] == outputs[1]
    assert "What a subset is worth: jmi, mrmr, a_new_one." in outputs[0]
    assert "cobra, another_new_one." in outputs[0]
    assert "Bias correction for counts: none, miller_madow, grassberger, shrinkage, chance." in outputs[0]
    for about in all_settings().values():
        assert about.panel in outputs[0]


def test_neither_help_of_the_group_nor_options_load_numpy():
    code = """
import sys, typer
from certselect.cli.generated import SettingsCommand, with_settings
from certselect.settings import Settings
app = typer.Typer()
@app.command(cls=SettingsCommand)
@with_settings()
def pick(settings: Settings) -> None:
    print("numpy" in sys.modules)
@app.command()
def other() -> None: ...
for arguments in (["--help"], ["pick", "--bins", "7"]):
    app(arguments, standalone_mode=False)
    print("numpy" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert "pick" in run.stdout
    said = [line for line in run.stdout.splitlines() if line in ("True", "False")]
    assert said == ["False"] * 3
