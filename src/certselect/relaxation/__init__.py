"""SubsetProblem -> Relaxation: primal matrix and multipliers of the semidefinite relaxation."""

from certselect.relaxation.lifted import relax
from certselect.relaxation.result import Callback, Iterate, Relaxation, Status
from certselect.relaxation.solve import solve

__all__ = ["Callback", "Iterate", "Relaxation", "Status", "relax", "solve"]
