"""Import walls: what each room may import, and that importing costs nothing."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import certselect
from certselect.settings import all_settings

SOURCE = Path(certselect.__file__).parent
HEAVY = {
    *("jinja2", "matplotlib", "numpy", "scipy", "sklearn", "numba", "narwhals", "pandas", "polars", "pyarrow"),
    *("typer", "rich"),
}
# Flow is one way: a room may import those before it, never one behind it.
ROOMS = [
    "settings",
    "table",
    "coding",
    "information",
    "criteria",
    "certificate",
    "relaxation",
    "report",
    "search",
    "theory",
    "datasets",
    "evaluation",
    "results",
    "plots",
    "selectors",
    "cli",
]
# Small modules beside the rooms, which every room may import; they import no room.
BESIDE = {"clock", "errors", "memory", "names", "progress", "registered", "shown_numbers", "threads", "writing"}
# What settings are made of: nothing that has to be loaded before `--help` can answer.
UNDER_SETTINGS = {"settings", "errors", "names"}
FRAMES = {"narwhals", "pandas", "polars", "pyarrow"}
# What the proofs must do without, so that they stay small: files, and the rooms of data before them.
FILES = {"json", "pathlib", "io", "os", "zlib", "base64"}
DATA = [["certselect", room] for room in ("table", "coding", "information")]


def imports(path):
    """Full names of the modules a file imports, but for those needed by type checkers alone."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def room_files():
    return [(room, path) for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py"))]


@pytest.mark.parametrize(("room", "path"), room_files(), ids=lambda value: str(getattr(value, "name", value)))
def test_rooms_import_only_what_lies_before_them(room, path):
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "certselect" and len(parts) > 1 and parts[1] in ROOMS:
            assert ROOMS.index(parts[1]) <= ROOMS.index(room), f"{path} imports {name}"
        if parts[0] in FRAMES:
            assert room == "table", f"{path} imports {name}: data frames belong to table/"
        if parts[0] in ("rich", "typer"):
            assert room == "cli", f"{path} imports {name}: printing belongs to cli/"
        if parts[0] == "matplotlib":
            assert room == "plots", f"{path} imports {name}: pictures belong to plots/"
        if parts[0] in ("jinja2", "markupsafe"):
            assert room == "report", f"{path} imports {name}: templates belong to report/"
        if parts[0] == "certselect" and room == "report" and len(parts) > 1:
            assert parts[1] in BESIDE | {"report"}, f"{path} imports {name}: a report is made of plain facts"
        if parts[0] == "numba":
            assert "kernels" in path.parts or path.name in ("narrowing.py", "brackets.py"), f"{path} imports numba"
        if room == "settings":
            assert parts[0] not in HEAVY, f"{path} imports {name}: settings load nothing heavy"
            assert parts[0] != "certselect" or parts[1] in UNDER_SETTINGS, (
                f"{path} imports {name}: settings know no room"
            )
        if room == "certificate":
            assert parts[0] not in FILES, f"{path} imports {name}: a certificate knows no files"
            assert parts[:2] not in DATA, f"{path} imports {name}: a certificate is about a problem, not about data"


def test_what_stands_beside_the_rooms_knows_none_of_them():
    beside = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert beside == BESIDE
    assert {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()} == set(ROOMS)
    for module in beside:
        for name in imports(SOURCE / f"{module}.py"):
            parts = name.split(".")
            assert parts[0] != "certselect" or parts[1] in BESIDE, f"{module}.py imports {name}"


def test_one_module_reads_the_clock():
    """Except for `threads`, which measures how busy the cores are by clocks of its own."""
    own = {"clock", "threads"}
    clocks = {"perf_counter", "monotonic", "process_time", "thread_time"}
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        named |= {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
        assert not named & clocks or path.stem in own, f"{path} reads the clock itself"


def loaded(code):
    """Heavy modules in memory after running some code in a new process."""
    script = f"{code}\nimport sys, json; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    return HEAVY & set(json.loads(out.splitlines()[-1]))


def test_import_loads_nothing_heavy():
    assert loaded("import certselect") == set()


def test_settings_load_nothing_heavy():
    assert loaded("from certselect.settings import Settings; Settings.from_keywords({'bins': 3})") == set()
    assert "numpy" in loaded("import certselect.criteria"), "the check must be able to fail"


def test_help_loads_the_command_line_only():
    code = "import sys; sys.argv = ['certselect', '--help']\nfrom certselect.cli import main\n"
    code += "try:\n    main()\nexcept SystemExit:\n    pass"
    assert loaded(code) <= {"typer", "rich"}


def test_small_tables_never_load_the_compiler():
    code = "import numpy as np\nfrom certselect import SubsetSelector\nr = np.random.default_rng(0)\n"
    code += "X, y = r.random((300, 40)), r.integers(0, 2, 300)\n"
    code += "for s in ('forward', 'backward', 'floating'):\n    SubsetSelector(10, strategy=s, polish=True).fit(X, y)"
    assert "numba" not in loaded(code)
    assert "numba" in loaded(code.replace("(300, 40)", "(300, 400)")), "the check must be able to fail"


def test_every_public_name_can_be_had():
    for name in certselect.__all__:
        assert getattr(certselect, name) is not None
    assert set(certselect.__all__) <= set(dir(certselect))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = certselect.nothing


def test_no_signature_spells_out_more_than_twelve_parameters():
    """Settings travel as objects or as keywords.

    Exceptions: what scikit-learn wants flat, commands whose options are generated, and compiled kernels.
    """
    flat = {("subset_selector.py", "__init__"), ("subset_selector_cv.py", "__init__")}
    long, seen = [], 0
    for path in sorted(SOURCE.rglob("*.py")):
        if "kernels" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not any(
                "with_settings" in ast.dump(d) for d in node.decorator_list
            ):
                seen += 1
                count = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
                if count > 12 and (path.name, node.name) not in flat:
                    long.append((path.name, node.name, count))
    assert seen > 1000
    assert long == []


def test_only_the_settings_know_their_defaults():
    """A setting's name stands with a default value of its own in settings/ and in the two selectors alone."""
    again = []
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0]
        if room == "settings" or path.name in ("subset_selector.py", "subset_selector_cv.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                again += [(path.name, node.name, name) for name in _repeated_defaults(node.args)]
    assert again == []


def _repeated_defaults(arguments):
    """Parameters named like a setting that spell out its default again, where that is not None or False."""
    positional = [*arguments.posonlyargs, *arguments.args]
    paired = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    paired += [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    known = all_settings()
    for argument, default in paired:
        about = known.get(argument.arg)
        if about is None or not isinstance(default, ast.Constant) or default.value in (None, False):
            continue
        if default.value == about.default:
            yield argument.arg
