"""Finds models by name. Nothing heavy is imported until one of them is used."""

from __future__ import annotations

import asyncio
import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING

from remit.agent.limits import ModelLimits
from remit.agent.names import parse_name
from remit.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.agent.language_model import LanguageModel
    from remit.agent.names import ProviderName
    from remit.agent.providers import Traffic
    from remit.gateway.models import CallReturn, Entry, ModelCall, ModelResponse, Subset, ToolOffer
    from remit.values.secrets import Secret

# The module that must be there, which is an extra for two of them.
_SDKS: dict[ProviderName, str] = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google.genai",
}
_SUBSETS: dict[ProviderName, Subset] = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "gemini",
}
# Names come from whoever makes sessions.
_MOST_MODELS = 64


class ProviderModels:
    """The ``Models`` port: the configured model, and others of the same provider.

    A session may name another model than the one that is set, but none of another provider: there
    is one key, and it is shown to the provider that it is for alone.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        base_url: str | None = None,
        api_key: Secret | None = None,
        limits: ModelLimits | None = None,
    ) -> None:
        """Keep the settings; nothing is imported or connected to.

        Args:
            name: ``openai:…``, ``anthropic:…`` or ``google:…``; None where no model is set.
            base_url: of a server that speaks the provider's API (``openai:`` is chat completions);
                None is the provider's own.
            api_key: for the provider; a server of one's own may need none.
            limits: of each request.
        """
        self._name = name
        self._base_url = base_url
        self._api_key = api_key
        self._limits = limits or ModelLimits()
        self._found: dict[str, LazyModel] = {}
        self._traffic: Traffic | None = None
        self._lock = threading.Lock()

    def find(self, name: str | None) -> LazyModel | None:
        """The model of that name, the default one for None; None where none is set.

        Raises:
            InvalidRequest: no model can be made of that name.
        """
        if self._name is None:
            if name is None:
                return None
            msg = "This server has no model. Set REMIT_MODEL_NAME, then start it again."
            raise InvalidRequest(msg)
        wanted = self._name if name is None else name
        found = self._found.get(wanted)
        if found is None:
            found = self._made(wanted)
            if len(self._found) >= _MOST_MODELS:
                del self._found[next(iter(self._found))]
            self._found[wanted] = found
        return found

    async def prepare(self) -> None:
        """Import what the configured model needs, in a thread: a second or two of CPU."""
        model = self.find(None)
        if model is not None:
            await model.ready()

    async def close(self) -> None:
        """Drop the connections; a request that goes on fails."""
        if self._traffic is not None:
            await self._traffic.close()

    def _made(self, wanted: str) -> LazyModel:
        provider, model_name = parse_name(wanted)
        ours, _ = parse_name(self._name or "")
        if provider != ours:
            msg = (
                f"The key of this server is for {ours}:… alone. Name a model of that provider,"
                " or leave the name out."
            )
            raise InvalidRequest(msg)
        if not _installed(_SDKS[provider]):
            msg = (
                f"What speaks to {provider} is not installed. Install remit[{provider}], then"
                " start the server again."
            )
            raise InvalidRequest(msg)
        if self._api_key is None and self._base_url is None:
            msg = f"There is no key for {provider}. Set REMIT_MODEL_API_KEY, then start it again."
            raise InvalidRequest(msg)
        return LazyModel(
            wanted, _SUBSETS[provider], lambda: self._language_model(wanted, provider, model_name)
        )

    def _language_model(
        self, wanted: str, provider: ProviderName, model_name: str
    ) -> LanguageModel:
        from remit.agent.language_model import LanguageModel  # noqa: PLC0415 - lazily, on purpose
        from remit.agent.providers import Traffic, provide  # noqa: PLC0415 - lazily, on purpose

        with self._lock:
            if self._traffic is None:
                self._traffic = Traffic(self._limits)
            traffic = self._traffic
        served = provide(provider, model_name, traffic, self._base_url, self._api_key)
        return LanguageModel(wanted, _SUBSETS[provider], served, self._limits)


class LazyModel:
    """The ``Model`` port; what is behind it is loaded at its first use."""

    def __init__(
        self,
        name: str,
        provider: Subset,
        make: Callable[[], LanguageModel],
    ) -> None:
        self._name = name
        self._provider: Subset = provider
        self._make = make
        self._model: LanguageModel | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """As it is set."""
        return self._name

    @property
    def provider(self) -> Subset:
        """Whose subset of JSON Schema the tools are fitted to."""
        return self._provider

    @property
    def packs(self) -> bool:
        """Whether its provider bounds the strict tools of a request; see the port."""
        return self.load().packs

    def load(self) -> LanguageModel:
        """Import and make what is behind it, once; from any thread."""
        if self._model is None:
            with self._lock:
                if self._model is None:
                    self._model = self._make()
        return self._model

    async def ready(self) -> None:
        """Load what is behind it, in a thread."""
        if self._model is None:
            await asyncio.to_thread(self.load)

    def calls_of(self, entry: Entry) -> tuple[ModelCall, ...]:
        """The calls of a response that was kept."""
        return self.load().calls_of(entry)

    def masked(self, entry: Entry, args_json: Mapping[str, str]) -> Entry:
        """A response with other arguments in place of what must not be kept, by call id."""
        return self.load().masked(entry, args_json)

    def user_entry(self, text: str) -> Entry:
        """A message of a person as an entry."""
        return self.load().user_entry(text)

    def results_entry(self, returns: Sequence[CallReturn]) -> Entry:
        """What became of all calls of the last response."""
        return self.load().results_entry(returns)

    async def respond(
        self,
        history: Sequence[Entry],
        *,
        instructions: str,
        tools: Sequence[ToolOffer],
        on_text: Callable[[str], None],
    ) -> ModelResponse:
        """Ask for the next answer, as the port says."""
        await self.ready()
        return await self.load().respond(
            history, instructions=instructions, tools=tools, on_text=on_text
        )


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it is not there
        return False
