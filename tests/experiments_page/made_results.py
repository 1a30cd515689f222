"""Made-up results in the formats the experiments write, small enough to check a page by hand."""

import json

CLASSIFIERS = ("SVM", "LDA", "CART", "RF", "NN")


def accuracy_file(name, measure, search, protocol="paper", percents=(80.0,) * 5, *, sizes=(5, 13), finished=True):
    """A result of `accuracy`: at the first size every classifier is 10 points worse than `percents`."""
    scores = {
        classifier: {
            str(sizes[0]): {"mean": (percent - 10) / 100, "std": 0.01, "folds": []},
            str(sizes[1]): {"mean": percent / 100, "std": 0.01, "folds": []},
        }
        for classifier, percent in zip(CLASSIFIERS, percents, strict=True)
    }
    question = {"experiment": "accuracy", "set": name, "measure": measure, "search": search, "protocol": protocol}
    shape = {"rows": 100, "columns": 20, "usable": 19}
    return {**question, **shape, "scores": scores, "finished": finished}


def comparison_file(name, *, seconds):
    held = {"matrix": seconds / 2, "COBRA": seconds / 2, "QPFS": 0.1, "SOSS": 0.2}
    methods = {method: {"accuracy": 0.75, "std": 0.01} for method in ("COBRA", "QPFS", "SOSS")}
    question = {"experiment": "comparison", "set": name, "finished": True}
    return {**question, "methods": methods, "seconds": {"one_thread": held}, "timed_size": 20}


def keep(results, grid, *contents):
    """Write results where the experiments would, after those that are there."""
    folder = results / grid
    folder.mkdir(parents=True, exist_ok=True)
    for content in contents:
        path = folder / f"{content['experiment']}.json"
        before = json.loads(path.read_text()) if path.exists() else []
        path.write_text(json.dumps([*before, content]))


def optimum_row(name="MAD", criterion="mrmr", k=12, *, bound=2.0, proven=True, **values):
    values = {"forward": 2.0, "backward": 2.0, "qpfs": 2.0, "soss": 2.0, "cobra": 2.0, "exact": 2.0, **values}
    return {
        "set": name,
        "criterion": criterion,
        "k": k,
        "n": 500,
        "values": values,
        "bound": bound,
        "proven": proven,
        "seconds": 1.5,
    }


def madelon_row(coding="mean_std", criterion="mrmr", beta=None, k=12, *, best=64.8, n=500, **more):
    searched = dict.fromkeys(("forward", "backward", "cobra", "exact"), best)
    row = {
        "coding": coding,
        "criterion": criterion,
        "beta": beta,
        "k": k,
        "n": n,
        "values": {"forward": 0.49, "backward": 0.5, "cobra": 0.5, "exact": 0.5},
        "bound": 0.5,
        "proven": True,
        "seconds": 1.0,
        "best": list(range(k)),
        "accuracies": searched,
        "best_accuracy": best,
    }
    return {**row, **more}
