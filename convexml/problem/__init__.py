"""A learning objective: design + loss + penalty."""

from __future__ import annotations

from .classes import MulticlassObjective
from .frame import Frame, frame_of, resized
from .newton import Kinks, LossModel, NewtonPoint, loss_hessian, loss_model, newton_point
from .objective import Objective, once
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
