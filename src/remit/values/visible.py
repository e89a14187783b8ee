"""Makes what cannot be seen in third-party text visible (contract section 7).

Descriptions, titles and briefings come from an app's author and are read by models and by
people. A control character can rewrite a terminal, a bidirectional one can turn a sentence
round, a tag character or a variation selector can carry an order that no person sees.
"""

from __future__ import annotations

import re

# C0 (but tab and line feed), DEL and C1; lone surrogates; line and paragraph separators;
# interlinear annotation; and Unicode's Default_Ignorable_Code_Point: soft hyphen, joiners,
# bidirectional marks, embeddings and isolates, word joiner, fillers, byte order mark, variation
# selectors, tags.
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# The two selectors of text and emoji style stay behind a sign they can style: one bit each, and
# without them half of all emoji would be broken.
_STYLE = "\ufe0e\ufe0f"
_SHOWN = re.compile(f"[{_UNSEEN}]|(?<![^\\s{_STYLE}{_UNSEEN}])[{_STYLE}]")


def visible(text: str) -> str:
    """``text`` with every character that cannot be seen written as ``⟨U+202E⟩``.

    Text without such characters comes back as it is; CR LF becomes LF. Tab and line feed stay.
    Applied twice it changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return text
    return _SHOWN.sub(_named, text.replace("\r\n", "\n"))


def hides(text: str) -> bool:
    """Whether ``visible`` would show a character of ``text`` that cannot be seen."""
    return _SHOWN.search(text.replace("\r\n", "\n")) is not None


def _named(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found.group()):04X}⟩"
