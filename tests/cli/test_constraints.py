"""Constraints on the command line: what they are called, what they choose, what is said of mistakes."""

import json

import numpy as np
import pytest

from as_before import counted, jmi
from certselect import SubsetSelector
from command_line import JMI, error_of, in_process

NAMES = ["a", "b", "c", "d", "e", "last, first"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    return rng.normal(size=(200, 6)) + y[:, None] * [2, 1.5, 1, 0.5, 0, 0], np.array(["healthy", "ill"])[y]


@pytest.fixture
def csv(table, tmp_path):
    path = tmp_path / "patients.csv"
    rows = [",".join(map(repr, row.tolist())) + f",7,{label}" for row, label in zip(*table, strict=True)]
    path.write_text("\n".join(['a,b,c,d,e,"last, first",stuck,diagnosis', *rows]))
    (tmp_path / "prices.csv").write_text('feature,cost\na,5\nb,2.5\n"last, first",1\nc,0.5\n')
    return path


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["-k", 3, "--include", "e", "--include", "d", "--exclude", "a"], {"include": [4, 3], "exclude": [0]}),
        (["-k", 4, "--all-or-none", 'a,"last, first"', "--all-or-none", "c, d"], {"feature_groups": [[0, 5], [2, 3]]}),
        (["-k", 3, "--at-most-one", "a,b,c"], {"feature_groups": {"at_most_one": [[0, 1, 2]]}}),
        (["-k", 3, "--costs", "prices.csv", "--budget", 3], {"costs": [5, 2.5, 0.5, 0, 0, 1], "budget": 3}),
        (["--costs", "prices.csv", "--budget", 1], {"costs": [5, 2.5, 0.5, 0, 0, 1], "budget": 1}),
        (["--exclude", "b", "--exclude", "stuck"], {"exclude": [1]}),
    ],
)
def test_they_choose_what_the_selector_does(csv, table, options, same, tmp_path):
    options = [tmp_path / option if option == "prices.csv" else option for option in options]
    done = in_process("select", csv, "-t", "diagnosis", "--strategy", "forward", *options, *JMI, "--json", "-")
    assert done.returncode == 0, done.stderr
    size = options[1] if "-k" in options else (None if "--budget" in options else 5)
    selector = SubsetSelector(size, strategy="forward", **jmi(counted(same))).fit(*table)
    result = json.loads(done.stdout)
    assert result["selection"]["features"] == [NAMES[i] for i in selector.indices_]
    assert result["selection"]["objective"] == selector.result_.selection.objective


def test_the_table_of_an_answer_of_any_size_is_printed(csv, tmp_path):
    done = in_process("select", csv, "-t", "diagnosis", "--costs", tmp_path / "prices.csv", "--budget", 3, *JMI)
    assert done.returncode == 0, done.stderr
    assert " of 7 features, jmi = " in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--include", "f"], "'f' in --include; expected the name of a feature"),
        (["--all-or-none", "a"], "got the group 'a'; expected two column names or more, like a,b,c"),
        (["--at-most-one", "a,,b"], "got the group 'a,,b'"),
        (["--budget", "3"], "--budget 3.0 without costs"),
        (["--costs", "prices.csv"], "costs without a budget"),
        (["--costs", "missing.csv", "--budget", "3"], "missing.csv', which cannot be read (No such file or directory)"),
        (["--costs", "patients.csv", "--budget", "3"], "line 2 of"),
        (["--costs", "twice.csv", "--budget", "3"], "two costs for 'a' in"),
        (["--costs", "words.csv", "--budget", "3"], "the cost 'dear' of 'a' in"),
        (["-k", "2", "--include", "a", "--include", "b", "--include", "c"], "-k 2 with 3 features to include"),
    ],
)
def test_mistakes_get_one_block_and_exit_code_2(csv, tmp_path, options, said):
    (tmp_path / "twice.csv").write_text("feature,cost\na,5\na,2\n")
    (tmp_path / "words.csv").write_text("feature,cost\na,dear\n")
    options = [tmp_path / option if option.endswith(".csv") else option for option in options]
    done = in_process("select", csv, "-t", "diagnosis", *options)
    assert done.returncode == 2
    assert said in error_of(done)


def test_help_names_them():
    said = in_process("select", "--help").stdout
    for word in ("--include", "--exclude", "--all-or-none", "--at-most-one", "--costs", "--budget", "--tight", "exact"):
        assert word in said
