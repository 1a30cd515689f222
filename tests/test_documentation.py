"""What the documentation shows runs as shown, and what it lists is what there is."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import polars
import pytest
import typer.main
from matplotlib import pyplot

import certselect
from certselect import errors, theory
from certselect.cli.app import app
from certselect.criteria import known as criteria
from certselect.information import registry as measures
from certselect.search import registry
from pictures import without_names

ROOT = Path(__file__).parent.parent
MODULES = [module.name for module in pkgutil.walk_packages(certselect.__path__, "certselect.")]
# Columns that the examples speak of.
NAMED = ["age", "id", "colour_red", "colour_green", "colour_blue", "weight_kg", "weight_lb", "mri", "blood"]
ALL_PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
WITH_PYTHON = [page for page in ALL_PAGES if "```python\n" in page.read_text()]


@pytest.fixture(autouse=True)
def forgets(monkeypatch):
    """What an example registers is gone after it."""
    for registered in (registry._registry, criteria._registry, measures._registry):
        monkeypatch.setattr(registered, "_registered", dict(registered._registered))


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    for example in finder.find(module, name):
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
        assert result.failed == 0


def test_there_are_examples_to_run():
    found = sum(">>>" in (importlib.import_module(name).__doc__ or "") for name in MODULES)
    assert found + len(doctest.DocTestFinder().find(certselect.information_terms)) > 1


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_python_on_the_pages(page, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    columns = [*NAMED, *(f"x{i}" for i in range(60 - len(NAMED)))]
    X = polars.DataFrame(rng.normal(size=(120, 60)) + y[:, None] * rng.random(60), schema=columns)
    monkeypatch.chdir(tmp_path)  # examples write files, and read this one
    X.with_columns(diagnosis=polars.Series(y)).write_csv("patients.csv")
    shutil.copy(ROOT / "docs/wines.csv", "wines.csv")
    names = {"X": X, "y": y, "print": lambda *args: None}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)
    pyplot.close("all")


def command_lines():
    """(page, what follows `certselect`) for every command that a page shows."""
    for page in ALL_PAGES:
        for line in re.findall(r"^    certselect (.*)$", page.read_text(), flags=re.MULTILINE):
            yield pytest.param(line, id=f"{page.name}: {line}")


@pytest.mark.parametrize("line", list(command_lines()))
def test_commands_on_the_pages_can_be_read(line):
    name, *arguments = shlex.split(line, comments=True)
    command = typer.main.get_command(app).commands[name]
    with command.make_context(name, arguments) as context:  # raises for options that do not exist
        assert context.params


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def anchors(page):
    """What the headings of a page are linked by: lower case, no punctuation, dashes for spaces."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(columns, rows):
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in escaped) + "\n"


def strategy_table():
    """The package's own strategies, as their records describe them."""
    yes = {True: "yes", False: "no"}
    rows = []
    for name, strategy in certselect.list_strategies().items():
        if strategy.run.__module__ != f"{registry._FILES.__name__}.{name}":
            continue  # somebody else's
        # An option that one size's search hands on to the next one's: not for users.
        options = [
            f"`{option}={default!r}`"
            for option, default in strategy.options.items()
            if not (strategy.warm_start and option == "warm_start")
        ]
        rows.append(
            [
                f"`{name}`",
                strategy.summary,
                ", ".join(options),
                yes[strategy.needs_all_pairs],
                yes[strategy.in_order_of_choice],
                "each starts from the last" if strategy.warm_start else yes[strategy.nested is not None],
                yes[strategy.bounds],
                f"`certselect[{strategy.requires}]`" if strategy.requires else "",
            ]
        )
    columns = ["`strategy`", "what it does", "options", "needs all pairs", "lists features in order of choice"]
    return table([*columns, "one run for all sizes", "always with a bound", "extra to install"], rows)


def criterion_table():
    """The package's own criteria, as their records describe them."""
    others = {name: [] for name in criteria.OWN}
    for alias, name in criteria.ALIASES.items():
        others[name].append(f"`{alias}`")
    known = certselect.list_criteria()
    rows = [
        [f"`{name}`", known[name].formula, str(known[name].pair or "none").replace("_", " "), ", ".join(aliases)]
        for name, aliases in others.items()
        if name in criteria.CRITERIA
    ]
    return table(["`criterion`", "value of a subset of k features", "pair term", "other names"], rows)


def stepwise_table():
    """Those of them that are no sums over pairs."""
    rows = [[f"`{name}`", record.formula] for name, record in criteria.STEPWISE.items()]
    return table(["`criterion`", "what a feature X adds to the chosen ones, W"], rows)


@pytest.mark.parametrize("make", [strategy_table, criterion_table, stepwise_table])
def test_the_guide_lists_what_there_is(make):
    made = make()
    assert made.count("\n") > 3
    assert made in (ROOT / "docs/guide.md").read_text(), f"docs/guide.md should hold this table:\n\n{made}"


def test_the_glossary_explains_terms_once_and_is_linked():
    explained = re.findall(r"^\*\*(.*?)\*\*", (ROOT / "docs/glossary.md").read_text(), flags=re.MULTILINE)
    assert len(set(explained)) == len(explained)
    assert {"Nat", "Relaxation", "Certificate", "Gap", "Polish", "Lift", "Multipliers", "Unit"} <= set(explained)
    for page in [*WITH_PYTHON, ROOT / "docs/architecture.md"]:
        assert "glossary.md" in page.read_text(), page


def test_the_glossary_knows_every_criterion_and_strategy():
    text = (ROOT / "docs/glossary.md").read_text()
    own = [name for name, one in certselect.list_strategies().items() if one.run.__module__.startswith("certselect.")]
    for name in [*criteria.OWN, *own]:
        assert f"`{name}`" in text, name


def test_the_reference_lists_everything_public():
    listed = re.findall(r"^   ([A-Za-z]\w+)$", (ROOT / "docs/api.rst").read_text(), flags=re.MULTILINE)
    assert len(set(listed)) == len(listed)
    warned = [name for name in vars(errors) if name.endswith("Warning")]
    public = {*certselect.__all__, *theory.__all__, *warned} - {"__version__"}
    assert public <= set(listed)


def made_by(script):
    """A script beside the pages, as a module."""
    spec = importlib.util.spec_from_file_location(script, ROOT / "docs" / f"{script}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_first_table_is_what_its_script_makes():
    assert (ROOT / "docs/wines.csv").read_text() == made_by("make_wines").wines()


def test_the_first_table_gives_what_its_page_says():
    page = (ROOT / "docs/first-table.md").read_text()
    result = certselect.choose_subset(
        ROOT / "docs/wines.csv",
        "cultivar",
        5,
        kinds={"bottle": "skip"},
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert str(result.names) in page
    assert result.statement.split(" %")[0].rpartition(" ")[0] in page, "but for the last digits of a solver"
    assert "'alcohol_proof' not chosen beside its copy" in repr(result)
    best = certselect.choose_subset(
        ROOT / "docs/wines.csv",
        "cultivar",
        5,
        kinds={"bottle": "skip"},
        strategy="exact",
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert best.names == result.names
    assert best.statement in page


def test_the_pictures_are_what_their_script_makes():
    script = made_by("make_pictures")
    for name, draw in script.PICTURES.items():
        kept = (script.FIGURES / f"{name}.svg").read_text()
        assert without_names(kept) == without_names(script.as_svg(draw())), name


def test_the_certificate_page_says_what_its_pictures_show():
    page = (ROOT / "docs/what-is-a-certificate.md").read_text()
    problem = made_by("make_pictures")._problem()
    found = certselect.select(problem, "relevance", certify=True)
    assert "at most 12 % more" in page
    assert 0.11 < found.gap <= 0.12
    assert f"worth {certselect.select(problem, 'exact').objective:.2f} nats" in page.replace("\n", " ")
