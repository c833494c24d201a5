"""What every room shares: errors, random streams, the bootstrap, labels, optional frameworks."""

from repbm.core._bootstrap import middle, resampled_counts
from repbm.core._errors import InputError, nearest
from repbm.core._extras import optional
from repbm.core._labels import Label, as_label
from repbm.core._numbers import number
from repbm.core._random import stream

__all__ = ["InputError", "Label", "as_label", "middle", "nearest", "number", "optional", "resampled_counts", "stream"]
