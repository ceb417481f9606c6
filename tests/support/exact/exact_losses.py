"""The losses and penalties at rational points: sums of lines and squares, or balls of 120 digits.

A loss is ("pinball", tau) and the like, as is a penalty ("l1", lam).
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq

from convexml import losses, penalties
from support.exact.exact_numbers import HALF, ONE, ZERO, ball, dot, exact

Kind = tuple[Any, ...]
LINES = ("absolute", "pinball", "epsilon_insensitive", "hinge")
SMOOTH = ("logistic", "exponential", "poisson", "linex")


def lines(loss: Kind, y: fmpq) -> list[tuple[fmpq, fmpq]]:
    """(slope, offset) whose largest value, or 0, is the loss of z."""
    match loss[0]:
        case "absolute":
            return [(ONE, -y), (-ONE, y)]
        case "pinball":
            tau = exact(loss[1])
            return [(ONE - tau, -(ONE - tau) * y), (-tau, tau * y)]
        case "epsilon_insensitive":
            return [(ONE, -y - exact(loss[1])), (-ONE, y - exact(loss[1]))]
        case "hinge" | "squared_hinge":
            return [(-y, ONE)]
    raise LookupError(loss)


def loss_value(loss: Kind, y: fmpq, z: fmpq) -> Any:
    """l(y, z): rational, a ball, or inf."""
    if loss[0] in SMOOTH:
        return smooth_value(loss, y, ball(z))
    r = z - y
    match loss[0]:
        case "squared":
            return HALF * r * r
        case "huber":
            delta = exact(loss[1])
            size = abs(r)
            return HALF * r * r if size <= delta else delta * (size - HALF * delta)
        case "squared_hinge":
            return HALF * max(ZERO, ONE - y * z) ** 2
        case "squared_epsilon_insensitive":
            return HALF * max(ZERO, abs(r) - exact(loss[1])) ** 2
        case "hard_margin":
            return ZERO if y * z >= 1 else arb.pos_inf()
        case "interpolation":
            return ZERO if r == 0 else arb.pos_inf()
    return max([ZERO, *(slope * z + offset for slope, offset in lines(loss, y))])


def smooth_value(loss: Kind, y: fmpq, z: arb) -> arb:
    """l(y, z) of a smooth loss."""
    match loss[0]:
        case "logistic":
            return softplus(ball(-y) * z)
        case "exponential":
            return (ball(-y) * z).exp()
        case "poisson":
            constant = ball(y) * ball(y).log() - ball(y) if y > 0 else arb(0)
            return z.exp() - ball(y) * z + constant
        case "linex":
            return (ball(y) - z).exp() - (ball(y) - z) - 1
    raise LookupError(loss)


def softplus(t: arb) -> arb:
    """log(1 + e^t)."""
    return t + (-t).exp().log1p() if t > 0 else t.exp().log1p()


def slopes(loss: Kind, y: fmpq, z: arb) -> tuple[arb, arb]:
    """First and second derivative of a smooth loss in z."""
    match loss[0]:
        case "logistic":
            p = 1 / (1 + (ball(y) * z).exp())
            return -ball(y) * p, p * (1 - p)
        case "exponential":
            e = (-ball(y) * z).exp()
            return -ball(y) * e, e
        case "poisson":
            e = z.exp()
            return e - ball(y), e
        case "linex":
            e = (ball(y) - z).exp()
            return 1 - e, e
    raise LookupError(loss)


def penalty_value(penalty: Kind, w: list[fmpq]) -> Any:
    """Omega(w); inf outside a set."""
    match penalty[0]:
        case "none":
            return ZERO
        case "l2":
            return HALF * exact(penalty[1]) * dot(w, w)
        case "l1":
            return exact(penalty[1]) * sum((abs(v) for v in w), ZERO)
        case "elastic_net":
            lam, share = exact(penalty[1]), exact(penalty[2])
            l1 = sum((abs(v) for v in w), ZERO)
            return lam * (share * l1 + (ONE - share) * HALF * dot(w, w))
        case "l1_ball":
            return inside(sum((abs(v) for v in w), ZERO) <= exact(penalty[1]))
        case "l2_ball":
            return inside(dot(w, w) <= exact(penalty[1]) ** 2)
        case "box":
            return inside(all(exact(penalty[1]) <= v <= exact(penalty[2]) for v in w))
        case "nonnegative":
            return inside(all(v >= 0 for v in w))
    raise LookupError(penalty)


def inside(met: bool) -> Any:
    """0, or inf outside."""
    return ZERO if met else arb.pos_inf()


def as_objects(loss: Kind, penalty: Kind) -> tuple[Any, Any]:
    """The library's loss and penalty of the same meaning."""
    found = []
    for room, (name, *values) in ((losses, loss), (penalties, penalty)):
        name = {"none": "zero", "group": "group_l2"}.get(name, name)
        called = "".join(word.capitalize() for word in name.split("_"))
        found.append(getattr(room, called)(*values))
    return found[0], found[1]


def labels(loss: Kind) -> str:
    """What y is: real, binary or count."""
    if loss[0] == "poisson":
        return "count"
    binary = ("hinge", "squared_hinge", "hard_margin", "logistic", "exponential")
    return "binary" if loss[0] in binary else "real"
