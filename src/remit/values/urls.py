"""One strict URL grammar for the whole product (contract sections 7 and 11).

``baseUrl``, ``toolsUrl``, ``statusUrl``, url targets, frames and the egress guard all read URLs
here, so that no two parts of Remit ever disagree on the host. Nothing is repaired: what two
parsers could read in two ways is refused. Only absolute http and https URLs exist here.

The grammar is RFC 3986 without userinfo, with these choices of ours: a host is a canonical IP
address or a name of letters, digits, hyphens and dots; Unicode names pass through strict
IDNA 2008 (lower case and NFC first), never through a compatibility mapping; ports are 1 to
65535 without leading zeros; a trailing dot, an underscore and a percent sign are no part of a
host. Paths and queries are kept exactly as written.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from remit.values.ip import parse_ip

MAX_URL_BYTES = 8192
"""The longest URL that is sent (contract section 3)."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_HOST_LENGTH = 253
_MAX_LABEL_LENGTH = 63
_MAX_PORT = 65_535

_BLANK_OR_CONTROL = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_AUTHORITY = re.compile(r"//([^/?#]*)(.*)", re.DOTALL)
_BRACKETED = re.compile(r"\[([^\[\]]*)\](?::(.*))?", re.DOTALL)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Runs are possessive: no text is read twice, and most are read a run at a time.
_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]++|%[0-9A-Fa-f]{2})*+)*+")
# Brackets and the bar are no query characters of RFC 3986, but every client sends them bare.
_QUERY = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?\[\]|-]++|%[0-9A-Fa-f]{2})*+")
_TARGET = re.compile(rf"{_PATH.pattern}(?:\?{_QUERY.pattern})?")


class UrlFault(ValueError):
    """A text is no URL that Remit uses.

    Attributes:
        reason: why, as the second half of a sentence about the URL ("its port is out of
            range"). It never holds control characters or more than a scheme of the input.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Scheme, host and port, already folded, so that equal origins are equal values.

    Attributes:
        scheme: ``http`` or ``https``.
        host: lower-case ASCII name, or an address; IPv6 without brackets, canonical.
        port: the effective port, the default filled in.
    """

    scheme: str
    host: str
    port: int
    _text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_text", f"{self.scheme}://{self.authority}")

    @property
    def is_ip(self) -> bool:
        """Whether the host is an address and not a name."""
        return ":" in self.host or self.host.rpartition(".")[2].isdigit()

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine, by its name or address."""
        address = parse_ip(self.host)
        if address is None:
            return self.host == "localhost" or self.host.endswith(".localhost")
        return str(address) == "::1" or (address.version == 4 and address.value >> 24 == 127)

    @property
    def authority(self) -> str:
        """Host and port as they stand in a URL and in a ``Host`` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """A parsed URL.

    Attributes:
        origin: where it leads.
        path: raw, as written: empty, or beginning with a slash.
        query: raw, without its question mark; None where there is none.
    """

    origin: Origin
    path: str
    query: str | None = None

    @property
    def target(self) -> str:
        """Path and query as they stand in a request line."""
        path = self.path or "/"
        return path if self.query is None else f"{path}?{self.query}"

    @property
    def text(self) -> str:
        """The whole URL, its origin normalised, path and query as written."""
        return f"{self.origin}{self.target}"

    def with_path(self, path: str, query: str | None = None) -> Url:
        """The same origin with another raw path and query.

        Raises:
            UrlFault: the path does not begin with a slash, or one of the two holds a character
                that must be percent-encoded.
        """
        _check_path(path)
        _check_query(query)
        return Url(origin=self.origin, path=path, query=query)


def parse_url(text: str, *, allow_fragment: bool = False) -> Url:
    """Read an absolute http or https URL.

    Args:
        text: at most 8 KiB; nothing around it is stripped.
        allow_fragment: leave a fragment out instead of refusing it.

    Raises:
        UrlFault: it is not one, or could be read in two ways.
    """
    if len(text) > MAX_URL_BYTES:
        raise UrlFault("it is longer than 8 KiB")
    if _BLANK_OR_CONTROL.search(text):
        raise UrlFault("it holds a blank or a control character")
    if "\\" in text:
        raise UrlFault("it holds a backslash")
    scheme, rest = _split_scheme(text)
    authority = _AUTHORITY.fullmatch(rest)
    if authority is None:
        raise UrlFault(f"two slashes must follow {scheme}:")
    origin = _parse_authority(scheme, authority[1])
    before_fragment, hash_sign, _ = authority[2].partition("#")
    if hash_sign and not allow_fragment:
        raise UrlFault("it holds a fragment (#), which is never sent")
    path, question_mark, query = before_fragment.partition("?")
    _check_path(path)
    _check_query(query)
    return Url(origin=origin, path=path, query=query if question_mark else None)


def is_target(text: str) -> bool:
    """Whether a text can stand behind an origin: a path, a query, both or nothing."""
    return _TARGET.fullmatch(text) is not None


def parse_origin(text: str) -> Origin:
    """Read a URL that is an origin alone: no query, and no path but a single slash.

    Raises:
        UrlFault: it is no URL, or more than an origin.
    """
    url = parse_url(text)
    if url.path not in {"", "/"} or url.query is not None:
        raise UrlFault("it holds more than scheme, host and port")
    return url.origin


def parse_host(text: str) -> str:
    """Read a host alone and return it as ``Origin.host`` has it; IPv6 only in brackets.

    Raises:
        UrlFault: it is neither a name nor an address.
    """
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed is not None and bracketed[2] is None:
        return _parse_ipv6(bracketed[1])
    if not text:
        raise UrlFault("it has no host")
    return _parse_name_or_ipv4(text)


def parse_port(text: str) -> int:
    """Read a port, 1 to 65535, decimal without leading zeros.

    Raises:
        UrlFault: it is none.
    """
    if not _PORT.fullmatch(text):
        raise UrlFault("its port is not a plain number from 1 to 65535")
    port = int(text)
    if port > _MAX_PORT:
        raise UrlFault("its port is over 65535")
    return port


def same_origin(one: Url | Origin, other: Url | Origin) -> bool:
    """Whether both have one scheme, host and port (RFC 6454), folded as ``parse_url`` folds."""
    return _origin_of(one) == _origin_of(other)


def _origin_of(value: Url | Origin) -> Origin:
    return value.origin if isinstance(value, Url) else value


def _split_scheme(text: str) -> tuple[str, str]:
    match = _SCHEME.fullmatch(text)
    if match is None:
        raise UrlFault("it has no scheme; write it in full, beginning with https://")
    scheme = match[1].lower()
    if scheme not in _DEFAULT_PORTS:
        shown = scheme if len(scheme) <= 20 else "unknown"
        raise UrlFault(f"its scheme is {shown}; only https and http are used")
    return scheme, match[2]


def _parse_authority(scheme: str, authority: str) -> Origin:
    if "@" in authority:
        raise UrlFault("it holds a user name or password before the host (@)")
    if not authority:
        raise UrlFault("it has no host")
    if authority.startswith("["):
        bracketed = _BRACKETED.fullmatch(authority)
        if bracketed is None:
            raise UrlFault("its brackets hold no IPv6 address")
        host = _parse_ipv6(bracketed[1])
        port_text: str | None = bracketed[2]
    else:
        name, colon, after = authority.partition(":")
        if ":" in after:
            raise UrlFault("it has two colons in its host; an IPv6 address stands in brackets")
        if not name:
            raise UrlFault("it has no host")
        host = _parse_name_or_ipv4(name)
        port_text = after if colon else None
    port = _DEFAULT_PORTS[scheme] if port_text is None else parse_port(port_text)
    return Origin(scheme=scheme, host=host, port=port)


def _parse_ipv6(text: str) -> str:
    address = parse_ip(text)
    if address is None or address.version != 6:
        raise UrlFault("its brackets hold no IPv6 address")
    return str(address)


def _parse_name_or_ipv4(text: str) -> str:
    if "%" in text:
        raise UrlFault("its host holds a percent sign")
    if len(text) > _MAX_HOST_LENGTH:
        raise UrlFault("its host is longer than 253 characters")
    host = ".".join(_parse_label(label) for label in _fold(text).split("."))
    if len(host) > _MAX_HOST_LENGTH:
        raise UrlFault("its host is longer than 253 characters")
    if _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]) and parse_ip(host) is None:
        raise UrlFault("its host is an odd spelling of an IPv4 address; write a.b.c.d")
    return host


def _fold(host: str) -> str:
    """Lower case and NFC; a character that would fold into ASCII (the Kelvin sign) is refused."""
    if host.isascii():
        return host.lower()
    # Character by character: the lower case of a capital sigma must not depend on its place.
    folded = [character.lower() for character in host]
    for character, lower in zip(host, folded, strict=True):
        becomes_ascii = any(part.isascii() for part in unicodedata.normalize("NFC", lower))
        if becomes_ascii and not character.isascii():
            raise UrlFault("its host is no international domain name (IDNA 2008)")
    return unicodedata.normalize("NFC", "".join(folded))


def _parse_label(label: str) -> str:
    if not label:
        raise UrlFault("its host has an empty part: a dot too many")
    if not label.isascii() or label.startswith("xn--"):
        return _idna_label(label)
    if len(label) > _MAX_LABEL_LENGTH:
        raise UrlFault("a part of its host is longer than 63 characters")
    if not _LABEL.fullmatch(label):
        raise UrlFault("its host holds more than letters, digits, and hyphens between them")
    return label


def _idna_label(label: str) -> str:
    """One label through IDNA 2008: no mapping, and an ``xn--`` form must decode and come back."""
    import idna  # noqa: PLC0415 -- its tables take 30 ms to load and few hosts need them

    try:
        ascii_label = idna.alabel(idna.ulabel(label) if label.isascii() else label)
    except (idna.IDNAError, UnicodeError):
        raise UrlFault("its host is no international domain name (IDNA 2008)") from None
    encoded = ascii_label.decode("ascii")
    if label.isascii() and encoded != label:
        raise UrlFault("its host is no international domain name (IDNA 2008)")
    return encoded


def _check_path(path: str) -> None:
    if path and not path.startswith("/"):
        raise UrlFault("its path does not begin with a slash")
    if not _PATH.fullmatch(path):
        raise UrlFault("its path holds a character that must be percent-encoded")


def _check_query(query: str | None) -> None:
    if query is not None and not _QUERY.fullmatch(query):
        raise UrlFault("its query holds a character that must be percent-encoded")
