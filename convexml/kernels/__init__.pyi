"""What the room gives: names are loaded from here when first used, and types are read here."""

from .approximation import LowRank as LowRank
from .approximation import fourier_features as fourier_features
from .approximation import pivoted_cholesky as pivoted_cholesky
from .base import Kernel as Kernel
from .base import Product as Product
from .base import Scaled as Scaled
from .base import Sum as Sum
from .functions import Gaussian as Gaussian
from .functions import Laplacian as Laplacian
from .functions import Linear as Linear
from .functions import Polynomial as Polynomial
from .functions import Precomputed as Precomputed
from .matrix import factor as factor

ALL: dict[str, type[Kernel]]
