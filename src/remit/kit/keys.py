"""The published keys of a Remit server, kept and asked for again when they change."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPException
from queue import Empty, Queue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, cast
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, build_opener

from remit.kit.addresses import is_loopback
from remit.kit.strict_json import strict_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from http.client import HTTPMessage
    from typing import IO
    from urllib.request import Request

TIMEOUT_S: Final = 5.0
MAX_BYTES: Final = 256 * 1024
# A new key is published ten minutes before it is used, so that this is no hurry.
KEPT_S: Final = 300.0
# While the server cannot be reached, what it said last stands for as long as this.
KEPT_WHILE_UNREACHABLE_S: Final = 3_600.0
# Anyone can send a token with an id that nobody knows: the server is not to feel it.
BETWEEN_VAIN_ASKS_S: Final = 30.0
# After a failure: an app that has keys need not hurry.
AGAIN_WITHOUT_S: Final = 1.0
AGAIN_WITH_KEYS_S: Final = 15.0


class KeysUnavailable(Exception):
    """The keys could not be fetched, so that no identity can be told true from false."""


class Keys:
    """``<issuer>/.well-known/jwks.json``; for as many threads as you like.

    Args:
        issuer: the public URL of the Remit server, ``https://…`` (or ``http://…``), without a
            slash at its end.
        clock: seconds that only grow.

    Raises:
        ValueError: the issuer is no such address.
    """

    def __init__(self, issuer: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        parts = urlsplit(issuer)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            msg = f"The issuer {issuer!r} is no http(s) address."
            raise ValueError(msg)
        self._url = f"{issuer}/.well-known/jwks.json"
        self._opener = _opener(loopback=is_loopback(parts.hostname))
        self._clock = clock
        # Held while the server is asked; what is kept is read without it.
        self._asking = Lock()
        self._kept: _Kept | None = None
        self._not_before_s = float("-inf")
        self._no_vain_ask_before_s = float("-inf")

    def jwks(self) -> Mapping[str, object]:
        """The key set, at most five minutes old while the server can be reached.

        Raises:
            KeysUnavailable: it could not be fetched, and none is kept.
        """
        kept = self._kept
        age_s = float("inf") if kept is None else self._clock() - kept.since_s
        if kept is not None and age_s < KEPT_S:
            return kept.jwks
        usable = kept is not None and age_s < KEPT_WHILE_UNREACHABLE_S
        # One caller asks; others wait for it only where they have nothing to go on with.
        if not self._asking.acquire(blocking=not usable):
            return self._kept.jwks if self._kept is not None else self.jwks()
        try:
            if self._kept is not None and self._kept is not kept:
                return self._kept.jwks
            return self._fetched(retry_s=AGAIN_WITH_KEYS_S if usable else AGAIN_WITHOUT_S)
        except KeysUnavailable:
            if kept is not None and usable:
                return kept.jwks
            raise
        finally:
            self._asking.release()

    def jwks_beyond(self, known: Mapping[str, object]) -> Mapping[str, object] | None:
        """Ask again, for a token whose key is not in ``known``; None when there is no other key.

        An ask that brings no new key is not repeated within 30 s.
        """
        with self._asking:
            if self._kept is not None and self._kept.jwks is not known:
                return self._kept.jwks
            now_s = self._clock()
            if now_s < self._no_vain_ask_before_s:
                return None
            self._no_vain_ask_before_s = now_s + BETWEEN_VAIN_ASKS_S
            try:
                found = self._fetched(retry_s=AGAIN_WITH_KEYS_S)
            except KeysUnavailable:
                return None
            if _ids(found) <= _ids(known):
                return None
            self._no_vain_ask_before_s = now_s
            return found

    def _fetched(self, *, retry_s: float) -> Mapping[str, object]:
        now_s = self._clock()
        if now_s < self._not_before_s:
            raise KeysUnavailable(f"{self._url} could not be read a moment ago.")
        try:
            found = strict_object(_read(self._opener, self._url))
        except (OSError, HTTPException, ValueError) as error:
            self._not_before_s = self._clock() + retry_s
            raise KeysUnavailable(f"{self._url} could not be read: {error}.") from error
        self._kept = _Kept(jwks=found, since_s=now_s)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A key set, and when it was asked for."""

    jwks: Mapping[str, object]
    since_s: float


@lru_cache(maxsize=16)
def keys_of(issuer: str) -> Keys:
    """The keys of an issuer, one set in a process however many handlers ask."""
    return Keys(issuer)


class _NoRedirect(HTTPRedirectHandler):
    """An issuer that points elsewhere is not the issuer."""

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """None: the answer stays an error."""


def _opener(*, loopback: bool) -> OpenerDirector:
    # A proxy does not reach this machine's own loopback.
    return build_opener(_NoRedirect(), *([ProxyHandler({})] if loopback else []))


def _read(opener: OpenerDirector, url: str) -> bytes:
    """What stands at an address, within ``TIMEOUT_S`` in all.

    urllib's own limit is for each piece that comes: an issuer whose head drips in would hold every
    handler. So another thread reads, and is left to itself when its time is up.
    """
    done: Queue[bytes | Exception] = Queue()

    def read() -> None:
        try:
            done.put(_read_whole(opener, url))
        except HTTPError as error:
            # It is an answer, too, whose connection is still open.
            error.close()
            done.put(OSError(str(error)))
        except Exception as error:  # noqa: BLE001 -- it goes to whoever waits
            done.put(error)

    Thread(target=read, name="remit-kit-keys", daemon=True).start()
    try:
        found = done.get(timeout=TIMEOUT_S)
    except Empty:
        msg = f"it took more than {TIMEOUT_S:g} s"
        raise TimeoutError(msg) from None
    if isinstance(found, Exception):
        raise found
    return found


def _read_whole(opener: OpenerDirector, url: str) -> bytes:
    ends_s = time.monotonic() + TIMEOUT_S
    data = b""
    with opener.open(url, timeout=TIMEOUT_S) as answer:
        while chunk := cast("bytes", answer.read1(65_536)):
            data += chunk
            if len(data) > MAX_BYTES:
                msg = f"it has more than {MAX_BYTES} bytes"
                raise ValueError(msg)
            if time.monotonic() > ends_s:
                msg = f"it took more than {TIMEOUT_S:g} s"
                raise TimeoutError(msg)
    return data


def _ids(jwks: Mapping[str, object]) -> frozenset[str]:
    keys = jwks.get("keys")
    found = (
        cast("dict[str, object]", key).get("kid")
        for key in (cast("list[object]", keys) if isinstance(keys, list) else [])
        if isinstance(key, dict)
    )
    return frozenset(kid for kid in found if isinstance(kid, str))
