"""Counting: integer codes -> exact integer sums over joint counts.

`plain` counts with NumPy alone, for small tables that should not wait for a
compiler; `compiled` counts with Numba, bit rows and threads. Where samples
weigh differently, pairs leave out rows or frequencies are shrunk, `cells_plain`
and `cells_compiled` do. Of each two both return the same integers, so everything
built on them is the same float for float. `sparse` counts what is not zero.
"""
