"""What the package gives: names are loaded from here when first used, and types are read here."""

from .comparison import Comparison as Comparison
from .comparison import compare as compare
from .courses import Convergence as Convergence
from .courses import convergence as convergence
from .page import render_html as render_html
from .terminal import print_comparison as print_comparison
