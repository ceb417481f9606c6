"""A learning objective: design + loss + penalty."""

from .frame import Frame, frame_of
from .loss_model import LossModel, loss_model
from .newton import Kinks, NewtonPoint, loss_hessian, newton_point
from .objective import Objective
from .once import once
from .outputs.multiclass import MulticlassObjective
from .resized import resized
from .statement import Statement, label_all, parameters_of, pose_dual, pose_primal

__all__ = [
    "Frame",
    "Kinks",
    "LossModel",
    "MulticlassObjective",
    "NewtonPoint",
    "Objective",
    "Statement",
    "frame_of",
    "label_all",
    "loss_hessian",
    "loss_model",
    "newton_point",
    "once",
    "parameters_of",
    "pose_dual",
    "pose_primal",
    "resized",
]
