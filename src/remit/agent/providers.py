"""Models of pydantic-ai for each provider, over one bounded HTTP client.

The client of a provider's SDK decides nothing here: it never asks twice, never follows a redirect
to a place where the key was not meant to go, and reads no proxy from the environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import httpx2
from pydantic_ai.models import create_async_httpx2_client
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from remit.agent.breaks import Redirected, TooMuch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.models import Model

    from remit.agent.limits import ModelLimits
    from remit.agent.names import ProviderName
    from remit.values.secrets import Secret

_POOL_S = 5.0
_MOST_CONNECTIONS = 1000
_MOST_KEPT = 100

# The offer is fitted to the provider already (``remit.offer``): a second fitting would change what
# was shown to a reviewer, and costs more than the rest of the request.
_AS_OFFERED = ModelProfile(json_schema_transformer=None)


class Traffic:
    """The connections to a provider, shared by all its models.

    Attributes:
        client: for the SDKs.
    """

    def __init__(self, limits: ModelLimits) -> None:
        waits = httpx2.Timeout(
            limits.silence_s, connect=limits.connect_s, pool=_POOL_S, write=limits.silence_s
        )
        self.client = create_async_httpx2_client(timeout=waits, transport=_Bounded(limits))

    async def close(self) -> None:
        """Drop all connections."""
        await self.client.aclose()


class _Bounded(httpx2.AsyncHTTPTransport):
    """Counts what comes, so that no SDK keeps more than it may.

    A transport of one's own also keeps proxies of the environment out.
    """

    def __init__(self, limits: ModelLimits) -> None:
        super().__init__(
            limits=httpx2.Limits(
                max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_KEPT
            )
        )
        self._limits = limits

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.is_redirect:
            # The key would go along.
            await response.aclose()
            msg = "the server redirects"
            raise Redirected(msg)
        response.stream = _Counted(cast("httpx2.AsyncByteStream", response.stream), self._limits)
        return response


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, limits: ModelLimits) -> None:
        self._stream = stream
        self._limits = limits

    async def __aiter__(self) -> AsyncIterator[bytes]:
        line = whole = 0
        async for piece in self._stream:
            whole += len(piece)
            end = piece.rfind(b"\n")
            # A line that ends here is judged by the next one: what counts is what is kept.
            line = line + len(piece) if end < 0 else len(piece) - end - 1
            if line > self._limits.line_bytes or whole > self._limits.stream_bytes:
                msg = "the answer is too long"
                raise TooMuch(msg)
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def provide(
    provider: ProviderName,
    model_name: str,
    traffic: Traffic,
    base_url: str | None,
    api_key: Secret | None,
) -> Model:
    """A model of that provider; its SDK is imported now.

    Args:
        provider: whose API is spoken.
        model_name: as the provider names it.
        traffic: what it is spoken over.
        base_url: None is the provider's own.
        api_key: None where a server of one's own needs none; the environment is never asked.
    """
    # SDKs refuse to be made without a key, and would look for one in the environment.
    key = api_key.reveal() if api_key is not None else "none"
    make = {"openai": _openai, "anthropic": _anthropic, "google": _google}[provider]
    return make(model_name, traffic, base_url, key)


def _openai(model_name: str, traffic: Traffic, base_url: str | None, key: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - only where configured
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - only where configured
    from pydantic_ai.providers.openai_compatible import (  # noqa: PLC0415 - only where configured
        OpenAICompatibleProvider,
    )

    from remit.agent.completions import OPENAI_URL, LeanClient  # noqa: PLC0415 - with its SDK

    client = LeanClient(api_key=key, base_url=base_url or OPENAI_URL, http=traffic.client)
    # Another server gets no setting that OpenAI alone has, and markers of chat templates in what
    # tools say are broken up for it where its models need that.
    served = (
        OpenAIProvider(openai_client=client)
        if base_url is None
        else OpenAICompatibleProvider("openai-compatible", openai_client=client)
    )
    return OpenAIChatModel(model_name, provider=served, profile=_AS_OFFERED)


def _anthropic(model_name: str, traffic: Traffic, base_url: str | None, key: str) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - only where configured
    from pydantic_ai.providers.anthropic import (  # noqa: PLC0415 - only where configured
        AnthropicProvider,
    )

    served = AnthropicProvider(
        api_key=key,
        base_url=base_url or "https://api.anthropic.com",
        http_client=traffic.client,
    )
    return AnthropicModel(
        model_name,
        provider=served,
        profile=_AS_OFFERED,
        # It keeps prefixes of a conversation only where it is asked to.
        settings=ModelSettings(max_retries=0, cache=True),
    )


def _google(model_name: str, traffic: Traffic, base_url: str | None, key: str) -> Model:
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - only where configured
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415 - only where configured

    # Its SDK asks again only where it is told to.
    served = GoogleProvider(
        api_key=key,
        base_url=base_url or "https://generativelanguage.googleapis.com",
        http_client=traffic.client,
    )
    return GoogleModel(model_name, provider=served, profile=_AS_OFFERED)
