"""Methods that minimise a quadratic model of the loss, and the penalty as it is, over w alone."""
