"""A learning objective: design + loss + penalty."""

from .frame import Frame, frame_of
from .multiclass import MulticlassObjective
from .newton import Kinks, NewtonPoint, loss_hessian, newton_point
from .objective import Objective
from .once import once
from .resized import resized
from .statement import Statement, label_all, parameters_of, pose_dual, pose_primal

__all__ = [
    "Frame",
    "Kinks",
    "MulticlassObjective",
    "NewtonPoint",
    "Objective",
    "Statement",
    "frame_of",
    "label_all",
    "loss_hessian",
    "newton_point",
    "once",
    "parameters_of",
    "pose_dual",
    "pose_primal",
    "resized",
]
