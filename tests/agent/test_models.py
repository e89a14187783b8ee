"""Models are found by name, and nothing heavy is imported before one is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from remit.agent import ProviderModels
from remit.errors import InvalidRequest
from remit.testing import ScriptedModel
from remit.values.secrets import Secret
from tests.agent.replaying import ask

KEY = Secret("sk-canary-0123456789abcdef")


def test_without_a_name_there_is_no_model() -> None:
    """The server says so; a session that names one is refused."""
    models = ProviderModels(None, api_key=KEY)

    assert models.find(None) is None
    with pytest.raises(InvalidRequest, match="has no model"):
        models.find("openai:gpt-5")


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("openai:gpt-5", "openai"),
        ("openai:qwen/qwen3-coder:free", "openai"),
        ("openai:ft:gpt-4o-mini:acme::7p4lURel", "openai"),
    ],
)
def test_a_model_has_its_name_and_the_provider_it_is_fitted_to(name: str, provider: str) -> None:
    """Names of other servers hold slashes and colons."""
    model = ProviderModels(name, api_key=KEY).find(None)

    assert model is not None
    assert (model.name, model.provider) == (name, provider)


@pytest.mark.parametrize(
    "name",
    ["", "gpt-5", "openai", "openai:", "OpenAI:gpt-5", "cohere:command", "openai:a b",
     "openai:../x", "openai:/x", "openai:x\n", "openai:" + "x" * 200],
    ids=["empty", "bare", "provider", "no model", "case", "unknown", "blank", "up", "slash",
         "line", "long"],
)  # fmt: skip
def test_other_names_are_refused(name: str) -> None:
    """With a sentence that shows what a name looks like."""
    with pytest.raises(InvalidRequest, match="openai:<model>"):
        ProviderModels(name, api_key=KEY).find(None)


def test_a_session_may_name_another_model_of_the_same_provider() -> None:
    """The key is shown to the provider that it is for, and to no other."""
    models = ProviderModels("openai:gpt-5", api_key=KEY)
    small = models.find("openai:gpt-5-mini")

    assert small is not None
    assert small.name == "openai:gpt-5-mini"
    assert models.find("openai:gpt-5-mini") is small
    with pytest.raises(InvalidRequest, match="for openai:… alone"):
        models.find("anthropic:claude-sonnet-5")


def test_a_provider_needs_a_key_and_a_server_of_ones_own_does_not() -> None:
    """The environment is not asked for one."""
    with pytest.raises(InvalidRequest, match="Set REMIT_MODEL_API_KEY"):
        ProviderModels("openai:gpt-5").find(None)
    assert ProviderModels("openai:qwen3", base_url="http://127.0.0.1:11434/v1").find(None)


def test_a_provider_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which extra brings it is said before anything is asked."""
    monkeypatch.setitem(sys.modules, "google", None)

    with pytest.raises(InvalidRequest, match=r"Install remit\[google\]"):
        ProviderModels("google:gemini-3-flash", api_key=KEY).find(None)


def test_finding_a_model_imports_nothing_heavy() -> None:
    """The library takes a second and more: a lint must not pay for it."""
    code = (
        "import sys; from remit.agent import ProviderModels;"
        " assert ProviderModels('openai:x', base_url='http://127.0.0.1:1').find(None);"
        " print([name for name in ('pydantic_ai', 'openai', 'httpx2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


async def test_a_prepared_model_answers() -> None:
    """What takes long is done beforehand, off the loop; connections are kept and then dropped."""
    with ScriptedModel(["One.", "Two."]) as server:
        models = ProviderModels("openai:own", base_url=server.base_url)
        await models.prepare()
        model = models.find(None)
        assert model is not None
        response, _ = await ask(model)
        await models.close()

    assert response.text == "One."


def test_the_key_is_in_no_text() -> None:
    """Neither of the models nor of one of them."""
    models = ProviderModels("openai:gpt-5", api_key=KEY)
    shown = f"{models!r} {vars(models)!r} {models.find(None)!r} {vars(models.find(None))!r}"

    assert KEY.reveal() not in shown
