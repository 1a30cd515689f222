"""Proven-best subsets on the command line: found, said in words, saved, replayed, and not to be forged."""

import base64
import json
import zlib

import numpy as np
import pytest

from command_line import COUNTED, certselect, in_process


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    """20 columns, the first six of which say much the same."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 150)
    X = rng.standard_normal((150, 20)) + y[:, None] * rng.random(20)
    X[:, :6] += 2.0 * X[:, :1]
    path = tmp_path_factory.mktemp("proofs") / "table.csv"
    lines = [",".join([*(f"f{i}" for i in range(20)), "y"])]
    lines += [",".join([*map(str, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def saved(csv, tmp_path, *options):
    path = tmp_path / "result.json"
    done = in_process("select", csv, "--target", "y", "-k", 6, "--criterion", "mrmr", *options, "--json", path)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(path.read_text()), path


def test_exact_says_that_nothing_is_better_and_its_proof_replays(csv, tmp_path):
    said, result, path = saved(csv, tmp_path, "--strategy", "exact")
    assert "by exact (proven optimal)" in said
    assert "Proven optimal: no other 6 of the " in said
    assert result["selection"]["status"] == "proven optimal"
    assert result["certificate"]["proof"]["parts"]
    checked = in_process("verify", path, csv)
    assert checked.returncode == 0, checked.stderr
    assert f"verified: {result['statement']}" in checked.stdout
    assert "Proven optimal: no other 6 of the " in checked.stdout


def test_tight_tells_of_better_subsets(csv, tmp_path):
    best = saved(csv, tmp_path, "--strategy", "exact", *COUNTED)[1]
    path = tmp_path / "loose.json"
    options = ["--criterion", "mrmr", *COUNTED, "--strategy", "relevance", "--tight", "--json", path]
    done = in_process("select", csv, "--target", "y", "-k", 6, *options)
    assert "above these." in done.stdout
    assert "--strategy exact goes for it" in done.stderr
    result = json.loads(path.read_text())
    assert result["selection"]["upper_bound"] == pytest.approx(best["selection"]["objective"], rel=1e-9)
    assert in_process("verify", path, csv).returncode == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--include", "f3", "--exclude", "f0"], "with 'f3'; without 'f0'"),
        (
            ["--all-or-none", "f1,f2", "--at-most-one", "f4,f5,f6"],
            "all or none of 'f1', 'f2'; at most one of 'f4', 'f5', 'f6'",
        ),
    ],
)
def test_constrained_proofs_verify(csv, tmp_path, options, words):
    said, result, path = saved(csv, tmp_path, "--strategy", "exact", *options)
    assert "Proven optimal: no other 6 of the " in said
    checked = in_process("verify", path, csv)
    assert checked.returncode == 0, checked.stderr
    # What is proven is about the allowed subsets, and said to be.
    assert "Proven optimal: no other 6 of the " in checked.stdout
    assert f"verified under the constraints: {words}" in checked.stdout
    result["settings"]["constraints"] = dict.fromkeys(result["settings"]["constraints"]) | {"copies": "first"}
    path.write_text(json.dumps(result))
    refused = in_process("verify", path, csv)
    # What is excluded was not looked at: looked at now, the columns are others.
    assert refused.returncode == (5 if "--exclude" in options else 3)
    assert ("another table" if "--exclude" in options else "false claim") in refused.stderr


def test_a_forged_proof_is_refused(csv, tmp_path):
    _, result, path = saved(csv, tmp_path, "--strategy", "exact")
    options = ["--criterion", "mrmr", *COUNTED, "--strategy", "relevance"]
    worse = certselect("select", csv, "--target", "y", "-k", 6, *options, "--json", "-")
    other = json.loads(worse.stdout)
    # The proof of the best subset's value attached to a worse subset.
    value = other["selection"]["objective"]
    claim = {"status": "proven optimal", "upper_bound": value, "gap": 0.0}
    forged = other | {
        "selection": other["selection"] | claim,
        "certificate": result["certificate"] | {"known": value},
        "statement": "Proven: no 6 features score more than these.",
    }
    path.write_text(json.dumps(forged))
    refused = in_process("verify", path, csv)
    assert refused.returncode == 3
    assert "FAILED (false claim): a bound is claimed, but what is to prove it proves none" in refused.stderr


@pytest.mark.parametrize("damage", ["matrix", "claim", "depth", "length", "missing"])
def test_damaged_proofs_are_refused_in_words(csv, tmp_path, damage):
    _, result, path = saved(csv, tmp_path, "--strategy", "exact")
    part = result["certificate"]["proof"]["parts"][0]
    step = part["steps"][0]
    if damage == "matrix":
        step["above_diagonal"] = base64.b64encode(zlib.compress(b"\0" * 8)).decode()
    elif damage == "claim":
        step["out"] = result["selection"]["indices"]
    elif damage == "depth":
        result["certificate"]["proof"]["parts"] = [{"steps": [], "unit": 0}] * 100_000
    elif damage == "length":
        step["size"] = 10**9
    else:
        result["certificate"]["proof"] = {}
    path.write_text(json.dumps(result))
    refused = in_process("verify", path, csv)
    assert refused.returncode == (3 if damage == "claim" else 4)
    assert "FAILED" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_time_limit_is_for_every_search_and_told_of(csv):
    for strategy in ("forward", "exact"):
        limited = in_process("select", csv, "--target", "y", "--strategy", strategy, "--max-seconds", 1e-9)
        assert limited.returncode == 0
        assert "the time limit of 1e-09 s ended it early" in limited.stderr
    whole = in_process("select", csv, "--target", "y", "--strategy", "forward", "--max-seconds", 1000)
    assert whole.returncode == 0
    assert "time limit" not in whole.stderr
    path = in_process("path", csv, "--target", "y", "--max-size", 3, "--max-seconds", 1e-9)
    assert path.returncode == 0
    assert "the time limit ended the work on 3 of 3 sizes early" in path.stderr
    misplaced = in_process("select", csv, "--target", "y", "--strategy", "exact", "--option", "max_seconds=3")
    assert misplaced.returncode == 2
    assert "--max-seconds" in misplaced.stderr
