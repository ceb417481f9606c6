"""What the room gives: names are loaded from here when first used, and types are read here."""

from .classes import MulticlassObjective as MulticlassObjective
from .frame import Frame as Frame
from .frame import frame_of as frame_of
from .frame import resized as resized
from .newton import Kinks as Kinks
from .newton import LossModel as LossModel
from .newton import NewtonPoint as NewtonPoint
from .newton import loss_hessian as loss_hessian
from .newton import loss_model as loss_model
from .newton import newton_point as newton_point
from .objective import Objective as Objective
from .objective import once as once
from .statement import Statement as Statement
from .statement import label_all as label_all
from .statement import parameters_of as parameters_of
from .statement import pose_dual as pose_dual
from .statement import pose_primal as pose_primal
from .statement import pose_sum as pose_sum
from .statement import pose_sum_dual as pose_sum_dual
