"""The report in a real browser: what it does, what it asks for, and who can use it."""

import os
import re
import shutil

import pytest

from certselect.names import harmless
from certselect.report import report_page
from certselect.results.facts import result_facts
from report.made_reports import HOSTILE, cross_validated, hostile, large_facts, ordinary, ordinary_page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make test-browser does")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe is not installed: make test-browser does"
)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="no chromium is installed: make test-browser installs it"),
]
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
PATIENCE = 60_000  # milliseconds, of a machine that does much else


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        rights = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        opened = started.chromium.launch(executable_path=BROWSER, args=rights, timeout=PATIENCE)
        yield opened
        opened.close()


class Watched:
    """A page, with everything it said, asked for and popped up."""

    def __init__(self, browser, folder, html, **context):
        (folder / "report.html").write_text(html, encoding="utf-8")
        self.address = (folder / "report.html").as_uri()
        self.said, self.asked_for, self.popped_up = [], [], []
        self.context = browser.new_context(**{"viewport": DESKTOP, **context})
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked_for.append(request.url))
        self.page.on("dialog", self._dismiss)
        self.page.goto(self.address)

    def _dismiss(self, dialog):
        self.popped_up.append(dialog.message)
        dialog.dismiss()

    def column(self, table, place):
        """What the rows of a table show in a column now."""
        return self.page.locator(f"#table-{table} tbody tr > :nth-child({place})").all_inner_texts()

    def quiet(self):
        return self.said == [] and self.popped_up == [] and self.asked_for == [self.address]


@pytest.fixture
def opened(browser, tmp_path):
    pages = []

    def show(html, **context):
        pages.append(Watched(browser, tmp_path, html, **context))
        return pages[-1]

    yield show
    for each in pages:
        each.context.close()


def numbers(texts):
    return [float(re.search(r"[\d.]+(e-?\d+)?", text)[0]) for text in texts]


def test_sorting_a_column_twice_turns_it_around_and_disturbs_nobody(opened):
    shown = opened(ordinary_page())
    before = shown.column("chosen", 2)
    header = shown.page.get_by_role("button", name="Relevance").first
    header.click()
    down = numbers(shown.column("chosen", 3))
    assert down == sorted(down, reverse=True)
    assert shown.page.locator("#table-chosen [aria-sort=descending]").inner_text().startswith("Relevance")
    header.press("Enter")  # by keyboard as well
    up = numbers(shown.column("chosen", 3))
    assert up == sorted(up)
    assert up != down
    shown.page.locator("#table-chosen").get_by_role("button", name="Feature").click()
    assert [name.split("\n")[0] for name in shown.column("chosen", 2)] == sorted(before)
    assert shown.page.locator("#table-chosen [aria-sort]").count() == 1
    assert shown.quiet()


def test_filtering_shows_what_holds_the_text_and_says_how_many(opened):
    shown = opened(ordinary_page())
    field = shown.page.get_by_label("Filter chosen features")
    names = shown.column("chosen", 2)
    field.fill("WORST")
    rows = shown.page.locator("#table-chosen tbody tr").all_inner_texts()
    assert len(rows) > 0
    assert all("worst" in row for row in rows)
    assert shown.page.locator("#count-chosen").inner_text() == f"{len(rows)} of 8"
    field.fill("no such feature")
    assert shown.column("chosen", 2) == []
    field.fill("")
    assert shown.column("chosen", 2) == names
    assert shown.quiet()


def test_the_list_of_columns_is_turned_by_pages_and_searched_as_a_whole(opened):
    shown = opened(ordinary_page())
    page = shown.page
    first = shown.column("columns", 2)
    assert len(first) == 25
    assert page.locator("#back-columns").is_disabled()
    page.locator("#next-columns").click()
    second = shown.column("columns", 2)
    assert len(second) == 5
    assert not set(first) & set(second)
    assert page.locator("#next-columns").is_disabled()
    page.get_by_label("Filter columns").fill(second[0])
    assert second[0] in shown.column("columns", 2)
    assert shown.quiet()


def test_hostile_names_stay_text(opened):
    shown = opened(report_page(result_facts(hostile())))
    page = shown.page
    page.get_by_label("Filter columns").fill("")
    text = page.locator("body").inner_text() + "".join(shown.column("columns", 2))
    for name in HOSTILE:
        if len(name) < 80:
            assert harmless(name) in text, name
    assert "x" * 60 + "…" in text
    assert "\u202e" not in page.content()
    assert "49" not in page.locator("#table-columns").inner_text().split("{{7*7}}")[0][-3:]
    assert page.locator("h1").count() == 1
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2  # ours and the data
    page.locator("#map rect").first.hover()
    page.locator("#table-chosen").get_by_role("button", name="Feature").click()
    assert shown.quiet()


def test_the_page_may_load_and_run_nothing_but_itself(opened):
    shown = opened(ordinary_page())
    refused = []
    shown.page.on("requestfailed", lambda request: refused.append((request.url, request.failure)))
    shown.page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
            const image = document.createElement("img");
            image.src = "http://127.0.0.1:9/never.png";
            document.body.append(image);
        }"""
    )
    assert shown.page.evaluate("window.ran") is None
    assert shown.page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'went out', () => 'refused')") == "refused"
    # Of the page's own, not of `evaluate`, which no policy binds.
    evaluating = "setTimeout(() => { try { eval('1'); tell('ran'); } catch { tell('refused'); } })"
    assert shown.page.evaluate(f"new Promise((tell) => {evaluating})") == "refused"
    assert refused == [("http://127.0.0.1:9/never.png", "csp")], "the policy refuses before anything is asked for"
    assert shown.said, "the browser tells of what the policy refused"


def test_the_map_speaks_under_pointer_and_arrow_keys(opened):
    shown = opened(ordinary_page())
    says, heat = shown.page.locator("#map-says"), shown.page.locator("#map")
    names = heat.locator(".label").all_text_contents()
    heat.locator("rect").nth(1).hover()
    assert re.fullmatch(rf"{re.escape(names[0])} and {re.escape(names[1])} share \d+ %", says.inner_text())
    heat.focus()
    heat.press("ArrowDown")
    assert says.inner_text() == names[1]
    heat.press("ArrowDown")
    assert says.inner_text().startswith(f"{names[2]} and {names[1]} share ")
    for _ in range(3):
        heat.press("ArrowLeft")  # and stays inside
    assert says.inner_text().startswith(f"{names[2]} and {names[0]} share ")
    assert shown.quiet()


def test_the_map_says_of_no_pair_that_it_shares_all_or_nothing_where_it_does_not(opened):
    facts = result_facts(ordinary())
    parts = [[1.0, 0.9951, 0.004], [0.9951, 1.0, 0.0], [0.004, 0.0, 1.0]]
    facts["redundancy"] |= {"columns": facts["chosen"][:3], "parts": parts, "n_chosen": 3, "n_runners_up": 0}
    shown = opened(report_page(facts))
    said = []
    for place in (1, 2, 5):
        shown.page.locator("#map rect").nth(place).hover()
        said.append(shown.page.locator("#map-says").inner_text().partition(" share ")[2])
    assert said == ["> 99 %", "< 1 %", "0 %"]


def test_light_and_dark_follow_the_system_until_the_reader_says_otherwise(opened):
    shown = opened(ordinary_page(), color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = shown.page.evaluate(colour)
    toggle = shown.page.locator("#theme")
    assert toggle.inner_text() == "Light colours"
    toggle.click()
    light = shown.page.evaluate(colour)
    assert light != dark
    assert toggle.inner_text() == "Dark colours"
    shown.page.emulate_media(color_scheme="light")
    assert shown.page.evaluate(colour) == light
    assert shown.quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("kind", ["ordinary", "cross-validated", "hostile"])
def test_everybody_can_read_it(opened, kind, size, scheme):
    """axe-core finds no serious violation, and nothing is wider than the screen."""
    made = {"ordinary": ordinary, "cross-validated": cross_validated, "hostile": hostile}[kind]
    html = ordinary_page() if kind == "ordinary" else report_page(result_facts(made()))
    shown = opened(html, viewport=size, color_scheme=scheme)
    for details in shown.page.locator("summary").all():
        details.click()
    width = shown.page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"]
    assert serious_violations(shown.page) == {}
    assert shown.quiet()


def serious_violations(page):
    found = axe.Axe().run(page).response["violations"]
    return {each["id"]: each["nodes"][0]["html"] for each in found if each["impact"] in ("serious", "critical")}


def test_a_page_that_not_everybody_can_read_is_found_out(opened):
    spoilt = ordinary_page().replace('<html lang="en">', "<html>").replace('<label for="filter-chosen">', "<label>")
    assert set(serious_violations(opened(spoilt).page)) == {"html-has-lang", "label"}


def test_it_can_be_printed_and_read_without_scripts(opened):
    shown = opened(ordinary_page(), java_script_enabled=False)
    assert len(shown.column("chosen", 2)) == 8
    assert shown.page.locator("#theme").is_hidden()
    assert shown.page.locator("noscript").count() == 1
    shown.page.emulate_media(media="print")
    assert shown.page.locator("nav").is_hidden()
    assert shown.page.pdf().startswith(b"%PDF")


def test_five_hundred_of_twenty_thousand_columns_are_listed_sorted_and_found(opened):
    shown = opened(report_page(large_facts()))
    page = shown.page
    assert len(shown.column("chosen", 2)) == 500
    assert page.locator("#count-columns").inner_text() == "20,000 in all"
    assert page.locator("#page-columns").inner_text() == "Page 1 of 800"
    assert page.evaluate("document.querySelectorAll('*').length") < 40_000, "pages keep the browser quick"
    page.locator("#table-columns").get_by_role("button", name="Column").click()
    assert shown.column("columns", 2)[0] == "gene_00000_transcript"
    page.get_by_label("Filter columns").fill("gene_19999")
    assert "gene_19999_transcript" in shown.column("columns", 2)
    assert shown.quiet()
