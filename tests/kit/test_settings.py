"""What a component reads of its environment."""

from __future__ import annotations

import pytest

from remit.kit import App, SettingsError, component_url

SET = {
    "KAZZLE_APP_ISSUER": "https://agent.acme.example",
    "KAZZLE_APP_AUDIENCE": "bookmarks/api",
    "KAZZLE_APP_COMPONENT_URL": "https://api.acme.example/",
    "APP_ISSUER": "no brand",
    "_APP_ISSUER": "no brand either",
    "REMIT_APP_ISSUER": "",
}


def test_settings_are_found_under_any_brand() -> None:
    """Whoever runs the server names it."""
    assert App.from_env(SET) == App(
        issuer="https://agent.acme.example",
        audience="bookmarks/api",
        component_url="https://api.acme.example/",
    )


def test_the_url_of_the_component_is_needed_where_it_is_asked_for_alone() -> None:
    """A handler that shows no page does without."""
    without = {k: v for k, v in SET.items() if "URL" not in k}

    assert App.from_env(without).component_url is None
    with pytest.raises(SettingsError, match="No environment variable ends in _APP_COMPONENT_URL"):
        component_url("/page", environ=without)


@pytest.mark.parametrize("name", ["ISSUER", "AUDIENCE"])
def test_a_setting_that_is_missing_is_named(name: str) -> None:
    """With what to do."""
    without = {k: v for k, v in SET.items() if not k.endswith(f"KAZZLE_APP_{name}")}

    with pytest.raises(SettingsError, match=f"set REMIT_APP_{name}"):
        App.from_env(without)


@pytest.mark.parametrize("name", ["ISSUER", "AUDIENCE", "COMPONENT_URL"])
def test_a_setting_under_two_brands_is_no_guess(name: str) -> None:
    """Both names are said, and no value."""
    with pytest.raises(SettingsError, match=f"ACME_APP_{name} and KAZZLE_APP_{name}") as caught:
        App.from_env(SET | {f"ACME_APP_{name}": "https://evil.example"})

    assert "://" not in str(caught.value)


def test_an_absolute_address_is_made_of_the_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """For `embed_url`; from the process's environment unless another is given."""
    assert component_url("/b/1?x=2", environ=SET) == "https://api.acme.example/b/1?x=2"
    monkeypatch.setenv("REMIT_APP_COMPONENT_URL", "http://127.0.0.1:8000")
    assert component_url() == "http://127.0.0.1:8000"


@pytest.mark.parametrize("path", ["page", "//evil.example", "https://evil.example/"])
def test_a_path_that_would_leave_the_component_is_an_error(path: str) -> None:
    """What is put behind the address may come from an input."""
    with pytest.raises(ValueError, match="must begin with one slash"):
        component_url(path, environ=SET)
