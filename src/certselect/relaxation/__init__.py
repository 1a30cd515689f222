"""SubsetProblem -> Relaxation: primal matrix and multipliers of the semidefinite relaxation."""

from certselect.relaxation.result import Callback, Iterate, Relaxation, Status
from certselect.relaxation.solve import relax, solve

__all__ = ["Callback", "Iterate", "Relaxation", "Status", "relax", "solve"]
