"""Secrets: values whose text is masked wherever they are printed."""

from __future__ import annotations

from base64 import b64encode
from typing import final
from urllib.parse import quote, quote_plus

MASK = "***"


@final
class Secret:
    """A credential or environment value; only ``reveal`` gives its text.

    It is no dataclass on purpose: no generated ``repr``, ``asdict`` or pickle shows the text.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one place that sends it."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> str:
        msg = "a Secret is never serialized"
        raise TypeError(msg)


@final
class Masker:
    """Takes known secrets out of any text that is stored or shown (contract section 5, step 9).

    A secret is found as it is, percent-encoded, as form text and in base64; secrets shorter
    than four characters are left alone, because masking them would destroy ordinary text.
    """

    __slots__ = ("_needles",)

    def __init__(self, secrets: tuple[Secret, ...]) -> None:
        needles: set[str] = set()
        for secret in secrets:
            text = secret.reveal()
            if len(text) < 4:
                continue
            raw = text.encode("utf-8", "surrogatepass")
            needles |= {text, quote(text, safe="", errors="replace"), b64encode(raw).decode()}
            needles |= {quote_plus(text, errors="replace"), b64encode(raw).decode().rstrip("=")}
            needles.add(_json_escaped(text))
        # The longest first, so that no part of a longer form is left standing.
        self._needles = tuple(sorted(needles, key=len, reverse=True))

    def text(self, text: str) -> str:
        """``text`` with every known form of every secret replaced by ``***``."""
        for needle in self._needles:
            if needle in text:
                text = text.replace(needle, MASK)
        return text

    def value(self, value: object) -> object:
        """A JSON value with every string in it masked, object keys included."""
        if not self._needles:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict):
            return {self.text(str(k)): self.value(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return value


def _json_escaped(text: str) -> str:
    """The text as it stands inside a JSON string."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
