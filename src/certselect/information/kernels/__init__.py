"""Counting: integer codes -> exact integer sums of c ln c over joint counts.

`plain` counts with NumPy alone, for small tables that should not wait for a
compiler; `compiled` counts with Numba, bit rows and threads. Both return the
same integers, so everything built on them is the same float for float.
"""
