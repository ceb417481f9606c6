"""A comparison for people: on the terminal, and as one page that needs no network.

Names are loaded when first used: who prints one solution needs no page.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
