"""A learning objective: design + loss + penalty."""

from .multiclass import MulticlassObjective
from .newton import Kinks, NewtonPoint, newton_point
from .objective import Objective
from .statement import Statement, label_all, parameters_of, pose_dual, pose_primal

__all__ = [
    "Kinks",
    "MulticlassObjective",
    "NewtonPoint",
    "Objective",
    "Statement",
    "label_all",
    "newton_point",
    "parameters_of",
    "pose_dual",
    "pose_primal",
]
