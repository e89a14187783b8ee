"""Chat completions over OpenAI's SDK, without what costs most in it.

The SDK walks through each request to rename and encode what none of our requests holds, and builds
each piece of an answer field by field in Python: two thirds of a request (decision 0017).
Here a request is encoded as it is, and a piece is read by pydantic's compiled validator; a piece
that it does not take is built by the SDK as before, since servers differ.

A stream is whole when it said why it ended, or, from a server that is not OpenAI's, when it ended
with ``[DONE]``: some never give a reason. All else is an answer that was cut off.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import httpx2
import msgspec
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    AsyncStream,
    Omit,
)
from openai.resources.chat import AsyncChat, AsyncCompletions
from openai.types.chat import ChatCompletionChunk
from pydantic import ValidationError

from remit.agent.breaks import CutOff

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_HOST = "api.openai.com"
_ERRORS = 400
_REST_S = 0.1
_DONE = b"[DONE]"
# Arguments that are no part of the request; we set neither.
_OF_THE_SDK = frozenset({"timeout", "extra_body"})

_encode = msgspec.json.Encoder().encode


class LeanClient(AsyncOpenAI):
    """The SDK's client with chat completions of our own.

    Attributes:
        http: what requests are sent by.
        completions_url: where they go.
        head: the headers of each.
    """

    def __init__(self, *, api_key: str, base_url: str, http: httpx2.AsyncClient) -> None:
        """Connect to nothing yet.

        Args:
            api_key: as the provider gave it.
            base_url: up to and including the version.
            http: bounded, and shared.
        """
        super().__init__(api_key=api_key, base_url=base_url, max_retries=0, http_client=http)
        self.http = http
        self.completions_url = httpx2.URL(f"{base_url.rstrip('/')}/chat/completions")
        self.head = {
            "Authorization": f"Bearer {api_key}",
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
        }

    # The SDK's own type of property stands there.
    @cached_property
    def chat(self) -> AsyncChat:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What pydantic-ai asks through."""
        return _Chat(self)


class _Chat(AsyncChat):
    def __init__(self, client: LeanClient) -> None:
        super().__init__(client)
        self._lean = client

    @cached_property
    def completions(self) -> AsyncCompletions:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _Completions(self._lean)


class _Completions(AsyncCompletions):
    def __init__(self, client: LeanClient) -> None:
        super().__init__(client)
        self._lean = client

    # The SDK's own signature is forty arguments and four overloads; what comes is what
    # pydantic-ai gives, and it asks for streams alone.
    async def create(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, *, extra_headers: dict[str, str], **asked: object
    ) -> Pieces:
        client = self._lean
        body = {
            name: value
            for name, value in asked.items()
            if name not in _OF_THE_SDK and not isinstance(value, Omit)
        }
        request = client.http.build_request(
            "POST",
            client.completions_url,
            content=_encode(body),
            headers={**extra_headers, **client.head},
        )
        try:
            response = await client.http.send(request, stream=True)
            if response.status_code >= _ERRORS:
                raise await _refused(response)
        except httpx2.TimeoutException as error:
            raise APITimeoutError(request=request) from error
        except httpx2.RequestError as error:
            raise APIConnectionError(request=request) from error
        return Pieces(response, reasons_always=client.completions_url.host == _OPENAI_HOST)


async def _refused(response: httpx2.Response) -> APIStatusError:
    """The SDK's error of that status, for the library to tell what it is."""
    try:
        text = (await response.aread()).decode("utf-8", "replace")
    finally:
        await response.aclose()
    try:
        read: Any = json.loads(text)
    except ValueError:
        read = None
    body: object = cast("dict[str, Any]", read).get("error", read) if _is_dict(read) else None
    said: object = cast("dict[str, Any]", body).get("message") if _is_dict(body) else None
    message = said if isinstance(said, str) else text
    return APIStatusError(message, response=response, body=body)


def _is_dict(read: object) -> bool:
    return isinstance(read, dict)


class Pieces(AsyncStream[ChatCompletionChunk]):
    """An answer, piece by piece."""

    def __init__(self, response: httpx2.Response, *, reasons_always: bool) -> None:
        """Read nothing yet; the base's way would begin to decode on its own.

        Args:
            response: open.
            reasons_always: whether ``[DONE]`` without a reason is an answer that was cut off.
        """
        self.response = response
        self._reasons_always = reasons_always
        self._pieces = self._read()

    async def __anext__(self) -> ChatCompletionChunk:
        return await anext(self._pieces)

    def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        return self._pieces

    async def _read(self) -> AsyncIterator[ChatCompletionChunk]:
        request = self.response.request
        places, lines = _Places(), _data(self.response)
        whole = False
        try:
            async for line in lines:
                if line.startswith(_DONE):
                    whole = whole or not self._reasons_always
                    break
                piece = _piece(line, request)
                # Servers leave fields out, and give null for lists.
                for choice in piece.choices or ():
                    whole = whole or bool(choice.finish_reason)
                    if choice.delta and choice.delta.tool_calls:
                        places.put(choice.delta.tool_calls)
                yield piece
            if not whole:
                msg = "the stream ended before the answer did"
                raise CutOff(msg, request=request)
            await _drain(lines)
        except httpx2.TimeoutException as error:
            if not whole:
                raise APITimeoutError(request=request) from error
        except httpx2.RequestError as error:
            if not whole:
                raise APIConnectionError(request=request) from error
        finally:
            await self.response.aclose()


async def _drain(lines: AsyncIterator[bytes]) -> None:
    """Read what follows on an answer, for a moment: then its connection can be used again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_REST_S):
            async for _ in lines:
                pass


class _Places:
    """The places of calls in an answer: several servers say 0 for each, and some say none."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._by_theirs: dict[int, int] = {}

    def put(self, calls: list[ChoiceDeltaToolCall]) -> None:
        """Give each piece of a call the place of its call."""
        for call in calls:
            # What is left out is not there, whatever the type says.
            theirs: int = getattr(call, "index", None) or 0
            id_: str = getattr(call, "id", None) or ""
            function = getattr(call, "function", None)
            place = self._by_theirs.get(theirs)
            begins = bool(id_ and function is not None and function.name)
            if place is None or (begins and self._ids[place] and self._ids[place] != id_):
                place = len(self._ids)
                self._ids.append(id_)
                self._by_theirs[theirs] = place
            call.index = place


async def _data(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The ``data`` lines of a stream; comments, names and ids of events say nothing here."""
    rest = b""
    async for some in response.aiter_bytes():
        *lines, rest = (rest + some).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
    if rest.startswith(b"data:"):
        yield rest[5:].strip()


def _piece(line: bytes, request: httpx2.Request) -> ChatCompletionChunk:
    """One piece.

    Raises:
        APIError: it tells of an error.
        JSONDecodeError, UnicodeDecodeError: it is no JSON.
    """
    try:
        return ChatCompletionChunk.model_validate_json(line)
    except ValidationError:
        read: Any = json.loads(line)
    if _is_dict(read):
        fields = cast("dict[str, Any]", read)
        error: object = fields.get("error")
        if error:
            raise APIError("the server tells of an error", request, body=error)
        return ChatCompletionChunk.construct(**_filled(fields))
    msg = "a piece is no object"
    raise json.JSONDecodeError(msg, line.decode("utf-8", "replace"), 0)


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a piece, with those that a server left out: the library asks for each."""
    choices = cast("list[dict[str, Any]]", fields.get("choices") or [])
    return {
        "id": "",
        "created": 0,
        "model": "",
        **fields,
        "choices": [{"index": 0, "delta": None, **choice} for choice in choices],
    }
