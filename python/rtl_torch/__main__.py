"""python3 -m rtl_torch: builds the bridge for this Python's PyTorch, if it is not there, and says where it is."""
import sys

from . import Error, bridge

try:
    print(bridge(again=True))
except Error as error:
    sys.exit(f"rtl-torch: {error}")
