r"""What it may cost to compile the patterns of a document, and when that is too much.

The linear engine holds the interpreter while it compiles and cannot be stopped; a pattern of
seven characters, ``\pL{60}``, takes it five milliseconds. So patterns are priced before they are
compiled: rather too high than too low, in units of about a microsecond.
"""

from __future__ import annotations

import re
from typing import final

#: What all the different patterns of one document may cost together: about a second.
MAX_PATTERN_COST = 1_000_000
# Where the engine's bound on memory stops it (``PATTERN_OPTIONS``).
_MOST_TO_BUILD = 6_000
_LEAST = 30
_READ_ESCAPE = 12
# Under (?i) the other case of each letter of a class is looked for one by one.
_FOLD_ESCAPE = 160
_FOLD_WIDE = 3_300

_TOKEN = re.compile(r"\\[pP](?:\{[^}]*\}?|.)?|-\\[xuU]|-[^\x00-\x7f]|\\.|\{\d*,?\d*\}|.", re.DOTALL)
_COUNTS = re.compile(r"\d+")
# A flag changes what the rest means, and in "[]" and "[^]" the "]" may stand for itself: such a
# pattern is not read, and priced as the worst.
_FLAG = re.compile(r"\(\?[A-Za-z-]*[A-Za-z-][:)]")
_UNSURE = re.compile(r"\[\^?\]")
_WIDE = re.compile(r"-[^\x00-\x7f]|-\\|\\[pP]\{")
# What an atom takes when it is built, in quarters of a unit; any other token is a 1.
_PROPERTY = 1_200
_RANGE = 40
_WEIGHTS = {".": 20, "^": 48, "\\S": 60, "\\D": 60, "\\W": 60}


def pattern_cost(pattern: str) -> int:
    """An upper estimate of the work of compiling a pattern, in about microseconds."""
    escapes = pattern.count("\\")
    cost = _LEAST + len(pattern) + escapes * _READ_ESCAPE
    if _FLAG.search(pattern):
        wide = len(_WIDE.findall(pattern))
        return cost + escapes * _FOLD_ESCAPE + wide * _FOLD_WIDE + _MOST_TO_BUILD
    if _UNSURE.search(pattern):
        return cost + _MOST_TO_BUILD
    return cost + min(_to_build(pattern) // 4, _MOST_TO_BUILD)


def _to_build(pattern: str) -> int:
    """The weight of a pattern's atoms, with its counted repetitions written out."""
    # For the whole and each open group or class: its sum, and its last atom, which a count repeats.
    sums, atoms, classes = [0], [0], 0
    for token in _TOKEN.findall(pattern):
        if token == "[" or (token == "(" and not classes):
            classes += token == "["
            sums.append(1)
            atoms.append(0)
        elif len(sums) > 1 and token == ("]" if classes else ")"):
            classes -= token == "]"
            atoms.pop()
            atoms[-1] = sums.pop()
            sums[-1] += atoms[-1]
        elif token[0] == "{" and len(token) > 1 and not classes:
            times = max((int(count[:9]) for count in _COUNTS.findall(token)), default=1)
            sums[-1] += atoms[-1] * max(0, times - 1)
            atoms[-1] *= max(1, times)
        else:
            atoms[-1] = _weight(token)
            sums[-1] += atoms[-1]
    return sum(sums)


def _weight(token: str) -> int:
    if len(token) == 1:
        return _WEIGHTS.get(token, 1)
    if token[1] in "pP":
        return _PROPERTY
    return _RANGE if token[0] == "-" else _WEIGHTS.get(token, 1)


@final
class PatternBudget:
    """What is left for the patterns of one document; the same pattern is paid for once."""

    __slots__ = ("_left", "_paid")

    def __init__(self, cost: int = MAX_PATTERN_COST) -> None:
        self._left = cost
        self._paid: set[str] = set()

    def pays_for(self, pattern: str) -> bool:
        """Whether the pattern may be compiled; what it costs is taken off."""
        if pattern in self._paid:
            return True
        # Pricing takes time as well: what is too long is not even read.
        cost = pattern_cost(pattern) if len(pattern) <= self._left else self._left + 1
        if cost > self._left:
            return False
        self._left -= cost
        self._paid.add(pattern)
        return True
