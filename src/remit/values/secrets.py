"""Secrets: values whose text is masked wherever they are printed."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from html import escape
from typing import Any, final
from urllib.parse import quote, quote_plus

import msgspec

MASK = "***"

# Shorter ones stand in ordinary text by chance; masking them would destroy it.
_SHORTEST = 4
# From here on, the base64 of a secret inside a longer text is long enough to be told apart.
_SHORTEST_INSIDE = 8
_ESCAPE = re.compile(r"%[0-9A-F]{2}")
# RFC 3986, unreserved: no encoder of URLs, JSON or HTML writes them otherwise.
_is_unreserved = re.compile(r"[A-Za-z0-9._~-]*").fullmatch
# Neither escaped in JSON nor a number with an exponent, which has several spellings.
_is_written_as_it_is = re.compile(r"(?![-+\d.]*[eE][-+]?\d*\Z)[!#-\[\]-~]*").fullmatch
_written = msgspec.json.Encoder().encode


@final
class Secret:
    """A credential or environment value; only ``reveal`` gives its text.

    It is no dataclass on purpose: no generated ``repr``, ``asdict`` or pickle shows the text.
    """

    __slots__ = ("_masker", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._masker: Masker | None = None

    def reveal(self) -> str:
        """The text itself, for the one place that sends it."""
        return self._text

    def masker(self) -> Masker:
        """Masks this secret alone; made once, since every call needs it."""
        if self._masker is None:
            self._masker = Masker((self,))
        return self._masker

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

    A secret is found as it is, percent-encoded, as form text, inside a JSON string or HTML, in a
    JSON string inside of another, and in base64, also in the middle of a longer text. Secrets
    shorter than four characters are left alone, because masking them would destroy ordinary text.
    """

    __slots__ = ("_encoded", "_in_json", "_needles")

    def __init__(self, secrets: tuple[Secret, ...]) -> None:
        needles: set[str] = set()
        for secret in secrets:
            if len(secret.reveal()) >= _SHORTEST:
                needles |= _forms(secret.reveal())
        # The longest first, so that no part of a longer form is left standing.
        self._needles = tuple(sorted(needles, key=len, reverse=True))
        # What JSON writes as it is: then its text tells whether there is anything to mask. A form
        # that has another one in it is not looked for, nor are percents in a text without any.
        self._in_json: tuple[str, ...] | None = None
        self._encoded: tuple[str, ...] = ()
        if all(map(_is_written_as_it_is, self._needles)):
            least = [
                needle
                for needle in self._needles
                if not any(one in needle for one in self._needles if one != needle)
            ]
            self._in_json = tuple(needle for needle in least if "%" not in needle)
            self._encoded = tuple(needle for needle in least if "%" in needle)

    def text(self, text: str) -> str:
        """``text`` with every known form of every secret replaced by ``***``."""
        for needle in self._needles:
            if needle in text:
                text = text.replace(needle, MASK)
        return text

    def value(self, value: object) -> object:
        """A JSON value with every text and number in it masked, object keys included."""
        if not self._needles:
            return value
        try:
            written = _written(value).decode()
        except UnicodeEncodeError:
            return self._masked(value)
        return self._masked(value) if self.may_mask(written) else value

    def may_mask(self, written: str) -> bool:
        """Whether a JSON value may hold something to mask; its text cannot always tell.

        Args:
            written: the value as ``compact_json`` writes it.
        """
        if self._in_json is None:
            return True
        for needle in self._in_json:
            if needle in written:
                return True
        return (
            bool(self._encoded)
            and "%" in written
            and any(needle in written for needle in self._encoded)
        )

    def _masked(self, value: Any) -> Any:  # noqa: ANN401 -- JSON in, JSON out
        kind: type[object] = value.__class__
        if kind is str:
            return self.text(value)
        if kind is list:
            return [self._masked(item) for item in value]
        if kind is dict:
            return {self.text(key): self._masked(item) for key, item in value.items()}
        if kind is int or kind is float:
            text = str(value)
            # 1000.0 tells a secret 1000.
            if text in self._needles or text.removesuffix(".0") in self._needles:
                return MASK
        return value


#: Masks nothing.
NOTHING_SECRET = Masker(())


def _forms(text: str) -> set[str]:
    """Every spelling of a secret that an app may well answer with."""
    raw = text.encode("utf-8", "surrogatepass")
    found = {text, raw.hex(), raw.hex().upper()} | _base64(raw)
    found |= {"".join(f"%{byte:02{x}}" for byte in raw) for x in "Xx"}
    # Most tokens are of this kind.
    return found if _is_unreserved(text) else found | _percent(raw, text) | _quoted(text)


def _percent(raw: bytes, text: str) -> set[str]:
    """A secret inside a URL or a form, with capital and small hex digits."""
    percent = {
        quote(raw, safe=""),
        quote(raw),
        quote_plus(raw),
        quote_plus(text, errors="replace", safe="/"),
    }
    return percent | {_ESCAPE.sub(lambda found: found[0].lower(), form) for form in percent}


def _quoted(text: str) -> set[str]:
    """A secret inside a JSON string and inside HTML, as the common encoders write them."""
    found = _in_json(text)
    # Go, Rails and .NET escape what HTML would take for markup.
    tables = [
        str.maketrans({mark: f"\\u{ord(mark):04{x}}" for mark in marks})
        for marks in ("<>&", "<>&'", "<>&'+")
        for x in "xX"
    ]
    found |= {form.translate(table) for form in found for table in tables}
    html = {escape(text, quote=False)}
    for apostrophe in ("&#x27;", "&#39;", "&#039;", "&apos;"):
        form = escape(text).replace("&#x27;", apostrophe)
        html |= {form, form.replace("&quot;", "&#34;")}
    found |= html
    # An app that hands on what another one said puts it into a string of its own.
    return found | {nested for form in found for nested in _in_json(form)}


def _in_json(text: str) -> set[str]:
    found = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    return found | {form.replace("/", "\\/") for form in found}


def _base64(raw: bytes) -> set[str]:
    """The base64 of a secret alone, and what of it shows wherever it stands in a longer text."""
    found = {b64encode(raw).decode(), b64encode(raw).decode().rstrip("=")}
    if len(raw) >= _SHORTEST_INSIDE:
        for before in range(3):
            after = -(before + len(raw)) % 3
            whole = b64encode(bytes(before) + raw + bytes(after)).decode()
            # The characters that bits of the neighbours go into are left out.
            found.add(whole[(before * 8 + 5) // 6 : len(whole) - (after * 8 + 5) // 6])
    return found | {form.replace("+", "-").replace("/", "_") for form in found}
