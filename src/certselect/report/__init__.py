"""A plain dictionary of facts -> an HTML report: one file that needs no network.

`page.html` shows whatever the facts hold and leaves the rest out. Who makes the facts: `search/facts.py` of a
selection, `evaluation/curve_facts.py` of a path, `results/facts.py` of a result.
"""

from certselect.report.page import report_card, report_page, write_report

__all__ = ["report_card", "report_page", "write_report"]
