"""SubsetProblem -> Relaxation: primal matrix and multipliers of the semidefinite relaxation."""
