"""CVXPY problems that are learning problems: read back, posed, solved by the fast engines.

Three steps, each of which may decline in words:

- ``reading``: the objective as weighted atoms of affine maps (``reading.terms.Reading``), X kept by
  reference. Constraints wait in ``Reading.constraints`` until a reader consumes them.
- ``posing``: terms of one prediction become rows of a loss, terms that select entries a penalty;
  ``posing.problem.PosedReading`` is a ``LearningProblem`` and the way back to the variables.
- ``verifying``: what was read against what CVXPY computes from the expressions as written.

``answering`` solves what was posed and lets its certificate speak of the problem as written.
"""

from .recognizing import Recognition, recognize

__all__ = ["Recognition", "recognize"]
