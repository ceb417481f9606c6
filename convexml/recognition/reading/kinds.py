"""The affine atoms of CVXPY, by what they do."""

MOVING = frozenset(
    {
        "index",
        "special_index",
        "reshape",
        "transpose",
        "Hstack",
        "Vstack",
        "Concatenate",
        "Promote",
        "broadcast_to",
        "diag_vec",
        "diag_mat",
        "upper_tri",
        "squeeze",
    }
)
"""Atoms whose every entry is an entry of an argument, or 0."""
PROBED = frozenset({"cumsum", "conv", "convolve", "Trace", "kron", "Sum"})
"""LinearTerm atoms of one argument that varies, evaluated at unit vectors where it is small."""
SMALL = 500
WRAPPED = frozenset({"psd_wrap", "nsd_wrap", "symmetric_wrap", "nonneg_wrap", "nonpos_wrap"})
PRODUCTS = ("multiply", "MulExpression", "DivExpression")
ADDED = frozenset({"AddExpression", "NegExpression", *PRODUCTS, *MOVING, *PROBED, *WRAPPED})
"""Atoms that are affine where their arguments are, of products one of them constant."""
