"""Where rounds of a relaxation are computed: NumPy on the cores of this machine, or CuPy on a GPU.

Both speak the same language, so one code serves both. They differ in how a pass over a large matrix
is cut: on cores, into blocks of rows that stay in the cache, side by side; on a GPU, into as few as memory allows.

Dense algebra (symmetric matrices in double precision, factored, inverted and multiplied) differs too. On cores it is
LAPACK's in place, on lower triangles. On a GPU whole matrices are as quick as triangles, but a triangular
system with one right-hand side takes as long as a product of matrices: a factor that is to serve many vectors
is inverted there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from certselect.threads import SMALL, side_by_side, workers

ddot, dgemv, dger, dsymv, dsyr, dsyr2, dtrsv = get_blas_funcs(
    ("dot", "gemv", "ger", "symv", "syr", "syr2", "trsv"), dtype=np.float64
)
dpotrf, dpotri, dpotrs = get_lapack_funcs(("potrf", "potri", "potrs"), dtype=np.float64)

# Entries of a block of rows: about what the cache of a core holds of three arrays, and a small part of a GPU's memory.
CACHED_ENTRIES = 1 << 17
GPU_ENTRIES = 1 << 27
# Rows and columns of a square that is transposed in the cache.
SQUARE = 128
ABOVE = ~np.tri(SQUARE, dtype=bool)


class Arrays:
    """NumPy, on the cores of this machine.

    All products of dense algebra go through SciPy's BLAS: NumPy carries another copy of the
    library, whose waiting threads would compete for the same cores.
    """

    name = "cpu"
    block_entries = CACHED_ENTRIES
    # How matrices of dense algebra are stored.
    order: Literal["C", "F"] = "F"
    # What is raised where memory does not suffice and another place may have more.
    out_of_memory: tuple[type[BaseException], ...] = ()

    def __init__(self) -> None:
        self.xp: Any = np

    def held(self, array: np.ndarray, dtype: Any) -> Any:
        """A copy of an array where it is computed with."""
        return np.array(array, dtype=dtype)

    def at_hand(self, array: np.ndarray) -> Any:
        """An array where it is computed with: itself if it is there."""
        return array

    def fetched(self, array: Any) -> np.ndarray:
        """An array as NumPy's."""
        return np.asarray(array)

    def release(self) -> None:
        """Give memory back that is kept for arrays to come."""

    def product(self, M: Any, V: Any) -> Any:
        """MV. The threads here wait for work without spinning, unlike those of linear algebra on busy cores."""
        result = np.empty((len(M), *V.shape[1:]), dtype=M.dtype)
        height = -(-len(M) // (2 * workers()))

        def multiply(rows: slice) -> None:
            np.matmul(M[rows], V, out=result[rows])

        self._map(multiply, [slice(top, top + height) for top in range(0, len(M), height)])
        return result

    def by_rows(self, n_rows: int, width: int, work: Callable[[slice], Any]) -> list[Any]:
        """What `work` gives for each block of rows, in order."""
        height = max(1, self.block_entries // max(width, 1))
        blocks = [slice(top, min(top + height, n_rows)) for top in range(0, n_rows, height)]
        return self._map(work, blocks)

    def _map(self, work: Callable[[slice], Any], blocks: list[slice]) -> list[Any]:
        n_threads = min(workers(), len(blocks))
        if n_threads < 2 or blocks[-1].stop <= SMALL:
            return [work(block) for block in blocks]
        return side_by_side(work, blocks, n_threads)

    # Dense algebra: matrices are float64 and stored in `order`; vectors are where they are computed with.

    def symmetric(self, M: np.ndarray) -> Any:
        """A copy of a symmetric matrix for dense algebra."""
        return np.array(M, dtype=np.float64, order="F")

    def diagonal(self, M: Any) -> Any:
        """A writable view of the diagonal of a contiguous matrix."""
        return (M if M.flags.c_contiguous else M.T).reshape(-1)[:: len(M) + 1]

    def inner(self, A: Any, B: Any) -> float:
        """<A, B>, without a temporary."""
        return float(ddot(A.T.reshape(-1), B.T.reshape(-1)))

    def times(self, M: Any, v: Any) -> Any:
        """Mv for a symmetric M, of which the lower triangle will do."""
        return dsymv(1.0, M, v, lower=1)

    def column_products(self, A: Any, B: Any) -> Any:
        """The inner product of each column of A with that of B."""
        return np.einsum("ji,ji->i", A, B)

    def add_square(self, M: Any, v: Any) -> None:
        """M + vv' in place, in the lower triangle at least."""
        dsyr(1.0, v, a=M, lower=1, overwrite_a=1)

    def subtract_lower(self, M: Any, u: Any, v: Any) -> None:
        """M - uv' - vu' in place, in the lower triangle at least."""
        dsyr2(-1.0, u, v, a=M, lower=1, overwrite_a=1)

    def subtract_both(self, M: Any, u: Any, v: Any) -> None:
        """M - uv' - vu' in place."""
        dger(-1.0, u, v, a=M, overwrite_a=1)
        dger(-1.0, v, u, a=M, overwrite_a=1)

    def remove_from_columns(self, M: Any, v: Any) -> None:
        """M - vv'M in place: every column less its part along the unit vector v."""
        dger(-1.0, v, dgemv(1.0, M, v, trans=1), a=M, overwrite_a=1)

    def factor(self, M: Any) -> bool:
        """L with LL' = M into the lower triangle of M, by Cholesky; False where M is not positive definite."""
        ended_well = dpotrf(M, lower=1, clean=0, overwrite_a=1)[1] == 0
        return ended_well and self._finite_diagonal(M)

    def _finite_diagonal(self, M: Any) -> bool:
        """What a factorisation does not report: a NaN passes it, and reaches the last entry of the diagonal."""
        return bool(self.xp.isfinite(self.diagonal(M)).all())

    def solve(self, L: Any, b: Any) -> Any:
        """(LL')^-1 b."""
        return dpotrs(L, b, lower=1)[0]

    def ready_for_vectors(self, L: Any) -> None:
        """Make a factor, in place, into what the next ones take for one."""

    def half_solve(self, L: Any, v: Any) -> Any:
        """L^-1 v."""
        return dtrsv(L, v, lower=1)

    def half_solve_transposed(self, L: Any, v: Any) -> Any:
        """L^-T v."""
        return dtrsv(L, v, lower=1, trans=1)

    def minus_symmetric_solve(self, L: Any, B: Any, solved: Any, out: Any) -> None:
        """-(AB + B'A)/2 with A = (LL')^-1, into `out`; `solved` is scratch."""
        np.multiply(B, -0.5, out=solved)
        dpotrs(L, solved, lower=1, overwrite_b=1)
        # By squares: a transpose read across a whole matrix misses the cache at every entry.
        for left in range(0, len(L), SQUARE):
            right = left + SQUARE
            for top in range(0, len(L), SQUARE):
                bottom = top + SQUARE
                here, there = solved[top:bottom, left:right], solved[left:right, top:bottom]
                np.add(here, there.T, out=out[top:bottom, left:right])

    def inverse(self, L: Any, out: Any) -> bool:
        """(LL')^-1 into both triangles of `out`; False where there is none."""
        np.copyto(out, L)
        if dpotri(out, lower=1, overwrite_c=1)[1] != 0:
            return False
        for top in range(0, len(out), SQUARE):
            bottom = top + SQUARE
            out[top:bottom, bottom:] = out[bottom:, top:bottom].T
            corner = out[top:bottom, top:bottom]
            np.copyto(corner, corner.T.copy(), where=ABOVE[: len(corner), : len(corner)])
        return True


class GpuArrays(Arrays):
    """CuPy, on a GPU."""

    name = "cuda"
    block_entries = GPU_ENTRIES
    order = "C"

    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found]
        import cupyx  # type: ignore[import-not-found]
        import cupyx.scipy.linalg  # type: ignore[import-not-found]

        self.xp = cupy
        self._errstate = cupyx.errstate
        self._solve_triangular = cupyx.scipy.linalg.solve_triangular
        self.out_of_memory = (cupy.cuda.memory.OutOfMemoryError,)

    def held(self, array: np.ndarray, dtype: Any) -> Any:
        return self.xp.asarray(array, dtype=dtype)

    def at_hand(self, array: np.ndarray) -> Any:
        return self.xp.asarray(array)

    def fetched(self, array: Any) -> np.ndarray:
        return self.xp.asnumpy(array)

    def release(self) -> None:
        self.xp.get_default_memory_pool().free_all_blocks()

    def product(self, M: Any, V: Any) -> Any:
        return M @ V

    def _map(self, work: Callable[[slice], Any], blocks: list[slice]) -> list[Any]:
        return [work(block) for block in blocks]

    def symmetric(self, M: np.ndarray) -> Any:
        # Turning its storage round on the way would take longer than everything else; a symmetric one needs none.
        return self.xp.array(M.T if M.flags.f_contiguous else M, dtype=np.float64, order="C")

    def inner(self, A: Any, B: Any) -> float:
        return float(self.xp.vdot(A, B))

    def times(self, M: Any, v: Any) -> Any:
        return M @ v

    def column_products(self, A: Any, B: Any) -> Any:
        return (A * B).sum(axis=0)

    def add_square(self, M: Any, v: Any) -> None:
        M += v[:, None] * v

    def subtract_lower(self, M: Any, u: Any, v: Any) -> None:
        self.subtract_both(M, u, v)

    def subtract_both(self, M: Any, u: Any, v: Any) -> None:
        M -= u[:, None] * v
        M -= v[:, None] * u

    def remove_from_columns(self, M: Any, v: Any) -> None:
        M -= v[:, None] * (v @ M)

    def factor(self, M: Any) -> bool:
        # By default CuPy does not look at how a factorisation ended, which may leave finite nonsense.
        try:
            with self._errstate(linalg="raise"):
                L = self.xp.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            return False
        M[...] = L
        return self._finite_diagonal(M)

    def solve(self, L: Any, b: Any) -> Any:
        return self._triangular(L, self._triangular(L, b), transposed=True)

    def ready_for_vectors(self, L: Any) -> None:
        identity = self.xp.eye(len(L)).T  # stored by columns, as what is overwritten has to be
        L[...] = self._triangular(L, identity, overwrite=True)

    def half_solve(self, L: Any, v: Any) -> Any:
        return L @ v

    def half_solve_transposed(self, L: Any, v: Any) -> Any:
        return L.T @ v

    def minus_symmetric_solve(self, L: Any, B: Any, solved: Any, out: Any) -> None:
        self.xp.matmul(L, B, out=out)
        self.xp.matmul(L.T, out, out=solved)
        self.xp.add(solved, solved.T, out=out)
        out *= -0.5

    def inverse(self, L: Any, out: Any) -> bool:
        self.xp.matmul(L.T, L, out=out)
        return self._finite_diagonal(out)

    def _triangular(self, L: Any, b: Any, *, transposed: bool = False, overwrite: bool = False) -> Any:
        """L^-1 b or L^-T b. The transpose of a matrix stored by rows is one stored by columns, which needs no copy."""
        return self._solve_triangular(
            L.T, b, trans=0 if transposed else 1, lower=False, overwrite_b=overwrite, check_finite=False
        )


CPU = Arrays()
