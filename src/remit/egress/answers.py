"""One answer off the wire, under its budgets: bytes in, an ``Answer`` or one error out.

Nothing here reads a socket, so that an answer can be cut into pieces at any byte and must read
the same. The head and chunked bodies go through llhttp in its strict mode; where the head ends
and how much of the body is due is counted here, so that one byte too many is seen.

Rules, each held by a test:

* The head: ``max_header_bytes`` of header lines in all, 128 lines, 16 KiB a line; interim (1xx)
  answers are skipped and their bytes count into the same room, so that they end, too.
* A body has one length: a ``Content-Length``, chunks, or the end of the connection. Two of
  them, another transfer coding, and another protocol are refused.
* A connection is good for another request (``reusable``) only where the answer says so and not
  a byte came after it; after trailers it is not, as llhttp's binding would keep the last one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from remit.egress import faults
from remit.egress.inflating import BodyReader, CodingFault, OverBudget, content_coding
from remit.egress.transport import Answer

if TYPE_CHECKING:
    from remit.errors import CallError
    from remit.gateway.ports import Limits
    from remit.values.urls import Origin

_MAX_HEADERS = 128
_MAX_HEADER_LINE_BYTES = 16_384
_HEAD_END = b"\r\n\r\n"
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_CHUNKED_STEP_BYTES = 16_384
_VERSIONS = ("1.1", "1.0")
_COMMON_START = b"HTTP/1.1 "

_BODILESS = frozenset({204, 304})
_OF_THE_BODY = frozenset({"content-length", "content-encoding", "transfer-encoding"})


class _Flood(Exception):
    """More header lines than are read."""


_FAULTS = (HttpParserError, HttpParserUpgrade, CodingFault, OverBudget, _Flood)


@lru_cache(maxsize=512)
def _name(raw: bytes) -> tuple[str, str]:
    """A header's name as it came, and in lower case; llhttp lets ASCII tokens alone pass."""
    name = raw.decode("latin-1")
    return name, name.lower()


class AnswerReader:
    """Reads one answer; ``feed`` as bytes come, ``end`` where the connection ends.

    Attributes:
        answer: once it is whole.
        reusable: whether its connection may carry another request.
    """

    # Defaults of the class: an exchange sets few of them.
    answer: Answer | None = None
    reusable = False
    _tail = b""
    _head_seen = False
    _keep_alive = False
    _status = 0
    _headers: tuple[tuple[str, str], ...] = ()
    _chunked = False
    _chunked_bytes = 0
    _quiet_steps = 0
    _progress = False
    _due: int | None = None
    _coding: str | None = None
    _body: BodyReader | None = None
    _fault: Exception | None = None
    _whole = False

    def __init__(self, origin: Origin, limits: Limits) -> None:
        """Wait for the first byte of an answer.

        Args:
            origin: for the words of an error.
            limits: of header and body bytes.
        """
        self._origin = origin
        self._limits = limits
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._lines: list[tuple[bytes, bytes]] = []
        # Above the limit of the lines, for status lines and the blanks around values.
        self._head_room = limits.max_header_bytes + _MAX_HEADER_LINE_BYTES

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; true where the answer is whole.

        Raises:
            ResponseInvalid: it cannot be read.
            ResponseTooLarge: it is over a limit.
        """
        try:
            if not self._status:
                rest = self._feed_heads(data)
                if rest is None:
                    return False
                data = rest
            if self._chunked:
                return self._feed_chunks(data)
            if self._due is not None:
                return self._feed_counted(data, self._due)
            self._take(data)
        except _FAULTS as fault:
            raise self._as_call_error(self._fault or fault) from None
        return False

    def end(self, *, broken: bool = False) -> None:
        """The connection ended; the answer is whole where its body goes on to the end.

        Args:
            broken: it did not end of the server's will.

        Raises:
            UpstreamUnreachable: there was no whole head.
            ResponseInvalid: the body is not whole.
        """
        if not self._status:
            raise faults.broke(self._origin)
        if broken or self._chunked or self._due is not None:
            raise faults.not_whole(self._origin)
        try:
            self._finish(clean=False)
        except CodingFault as fault:
            raise faults.undecodable(self._origin, fault) from None

    # --- head ----------------------------------------------------------------------------------

    def _feed_heads(self, data: bytes) -> bytes | None:
        """Read heads until one is no interim answer's; what follows it, or None before that."""
        while True:
            # Without a tail this is the first piece of a head.
            is_plain = not self._tail and data.startswith(_COMMON_START)
            if not self._tail and (found := data.find(_HEAD_END)) >= 0:
                length = found + 4
            else:
                length = self._head_length(data)
            piece = data if length is None else data[:length]
            overflows = len(piece) > self._head_room
            if overflows:
                piece = piece[: self._head_room]
            self._head_room -= len(piece)
            self._parse(piece)
            if overflows:
                raise faults.head_flood(self._origin)
            if self._head_seen is (length is None):
                raise faults.no_http(self._origin)  # llhttp sees another end than we do
            if length is None:
                return None
            rest = data[length:]
            if self._judge_head(is_plain=is_plain):
                return rest
            if not rest:
                return None
            data = rest

    def _head_length(self, data: bytes) -> int | None:
        """How many of these bytes belong to the present head, or None where it goes on."""
        tail = self._tail
        if tail:
            found = (tail + data[:3]).find(_HEAD_END)
            if found >= 0:
                self._tail = b""
                return found + 4 - len(tail)
        found = data.find(_HEAD_END)
        if found >= 0:
            self._tail = b""
            return found + 4
        self._tail = (tail + data[-3:])[-3:]
        return None

    def _judge_head(self, *, is_plain: bool) -> bool:
        """Take what the head says; false for an interim answer.

        Raises:
            ResponseInvalid, ResponseTooLarge: it is not to be read further.
        """
        parser = self._parser
        if parser is None or not (is_plain or parser.get_http_version() in _VERSIONS):
            raise faults.no_http(self._origin)
        status = parser.get_status_code()
        if 100 <= status < 200 and status != 101:
            self._head_seen = False
            self._lines = []
            return False
        if not 200 <= status <= 599:
            raise faults.no_http(self._origin)
        self._status = status
        limits = self._limits
        used = limits.max_header_bytes + _MAX_HEADER_LINE_BYTES - self._head_room
        if used + _MAX_HEADERS > min(limits.max_header_bytes, _MAX_HEADER_LINE_BYTES):
            self._check_sizes(limits)
        self._read_lines(is_bodiless=status in _BODILESS)
        return True

    def _check_sizes(self, limits: Limits) -> None:
        """Hold the limits of lines, where the head as a whole is not well under them."""
        sizes = [len(name) + len(value) + 4 for name, value in self._lines]
        if max(sizes, default=0) > _MAX_HEADER_LINE_BYTES:
            raise faults.head_flood(self._origin)
        if sum(sizes) > limits.max_header_bytes:
            raise faults.head_over_budget(self._origin, limits)

    def _read_lines(self, *, is_bodiless: bool) -> None:
        headers: list[tuple[str, str]] = []
        of_the_body: list[tuple[str, str]] = []
        for raw_name, raw_value in self._lines:
            name, lower = _name(raw_name)
            value = raw_value.decode("utf-8", "replace")
            headers.append((name, value))
            if lower in _OF_THE_BODY:
                of_the_body.append((lower, value))
        self._headers = tuple(headers)
        self._lines = []
        if len(of_the_body) == 1 and of_the_body[0][0] == "content-length":
            self._due = self._length(of_the_body[0][1])  # the common case
        else:
            self._read_framing(of_the_body)
        if is_bodiless:
            self._chunked, self._due = False, 0
        elif self._coding is None and (self._due or 0) > self._limits.max_body_bytes:
            raise faults.body_over_budget(self._origin, self._limits)

    def _read_framing(self, of_the_body: list[tuple[str, str]]) -> None:
        """Read how the body is sent and coded, where it is not just a length."""
        lengths = [value for name, value in of_the_body if name == "content-length"]
        transfers = [value for name, value in of_the_body if name == "transfer-encoding"]
        if transfers and ", ".join(transfers).strip().lower() != "chunked":
            raise faults.not_asked_for(self._origin)
        if len(lengths) > 1 or (lengths and transfers):
            raise faults.no_http(self._origin)
        self._due = self._length(lengths[0]) if lengths else None
        if transfers:
            self._chunked = True
            self._tail = _HEAD_END[:2]
        codings = [value for name, value in of_the_body if name == "content-encoding"]
        self._coding = content_coding(codings)

    def _length(self, value: str) -> int:
        digits = value.strip(" \t")
        if not (digits.isascii() and digits.isdigit()):
            raise faults.no_http(self._origin)
        return int(digits)

    # --- body ----------------------------------------------------------------------------------

    def _feed_counted(self, data: bytes, due: int) -> bool:
        length = len(data)
        if length < due:
            self._take(data)
            self._due = due - length
            return False
        clean = length == due
        piece = data if clean else data[:due]
        if self._body is None and self._coding is None:
            self._finish(clean=clean, body=piece)
            return True
        self._take(piece)
        self._finish(clean=clean)
        return True

    def _feed_chunks(self, data: bytes) -> bool:
        """Read chunks in steps that end at fixed bytes of the stream, however it was cut."""
        start = 0
        while start < len(data):
            room = _CHUNKED_STEP_BYTES - self._chunked_bytes % _CHUNKED_STEP_BYTES
            piece = data[start : start + room]
            start += len(piece)
            self._chunked_bytes += len(piece)
            parsed = self._parse(piece)
            self._tail = piece[-7:] if len(piece) >= 7 else (self._tail + piece)[-7:]
            if self._whole:
                self._finish(clean=parsed and start == len(data) and self._tail == _LAST_CHUNK)
                return True
            if len(piece) == room:
                self._end_step()
        return False

    def _end_step(self) -> None:
        """Endless chunk extensions and trailers are headers, and have their limit."""
        self._quiet_steps = 0 if self._progress else self._quiet_steps + 1
        self._progress = False
        if self._quiet_steps * _CHUNKED_STEP_BYTES >= self._limits.max_header_bytes:
            raise faults.head_flood(self._origin)

    def _take(self, data: bytes) -> None:
        body = self._body
        if body is None:
            if not data:
                return
            body = self._body = BodyReader(self._coding, self._limits.max_body_bytes)
        body.feed(data)

    def _finish(self, *, clean: bool, body: bytes = b"") -> None:
        if self._body is not None:
            body = self._body.finish()
        self.answer = Answer(status=self._status, headers=self._headers, body=body)
        self.reusable = clean and self._keep_alive
        self._parser = None  # the two hold one another

    # --- llhttp --------------------------------------------------------------------------------

    def _parse(self, data: bytes) -> bool:
        """Hand bytes to llhttp; false where it stumbled over what follows a whole answer."""
        parser = self._parser
        if parser is None:
            return False
        try:
            parser.feed_data(data)
        except HttpParserError:
            if self._whole:
                return False
            raise
        return True

    def _as_call_error(self, fault: Exception) -> CallError:
        if isinstance(fault, OverBudget):
            return faults.body_over_budget(self._origin, self._limits)
        if isinstance(fault, CodingFault):
            return faults.undecodable(self._origin, fault)
        if isinstance(fault, _Flood):
            return faults.head_flood(self._origin)
        if self._status:
            return faults.not_whole(self._origin)
        # llhttp stops at 101, whether or not a protocol is named.
        switched = self._parser is not None and self._parser.get_status_code() == 101
        return (faults.not_asked_for if switched else faults.no_http)(self._origin)

    def on_header(self, name: bytes, value: bytes) -> None:
        """For llhttp's binding: a line of a head, or of trailers, which are dropped."""
        lines = self._lines
        lines.append((name, value))
        if len(lines) > _MAX_HEADERS:
            self._fault = _Flood()
            raise self._fault

    def on_headers_complete(self) -> None:
        """For llhttp's binding; what is said after a whole answer spoils the connection."""
        if self._whole:
            self._keep_alive = False
        elif self._parser is not None:
            self._head_seen = True
            self._keep_alive = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        """For llhttp's binding: of a chunk."""
        if self._whole:
            return
        self._progress = True
        try:
            self._take(data)
        except (CodingFault, OverBudget) as fault:
            self._fault = fault
            raise

    def on_message_complete(self) -> None:
        """For llhttp's binding; of a head without a body it comes at once."""
        self._whole = self._chunked
