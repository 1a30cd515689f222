"""Everybody side by side: one judge, many contestants, and each claim about speed a ratio measured in one run.

* `selectors.py`: an adapter of a few lines for each package that chooses features; `outcome.py` uses them too.
* `choosers.py`, `measures.py`, `solvers.py`, `parts.py`: who does which job: choosing features and counting pairs,
  measuring numbers, relaxations and exact problems, and the parts of our own work that cannot be saved.
* `problems.py`, `tables.py`: what they are given. `reference.py`, `shrink.py`: whether their answers are right.
* `cases.py`: which questions are asked. `judge.py`: seconds and memory. `results.py`: what is kept, and ratios of it.
* `check.py`: whether ratios have become worse. `../bench.py` is the command, `../bench_page.py` makes the page.

Nothing here imports a contestant before it is asked to run, so that a cold start is a cold start.
"""
