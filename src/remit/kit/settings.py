"""What Remit tells a component in its environment when it starts it (contract section 12)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from remit.kit.identity import identity
from remit.kit.keys import keys_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.kit.headers import Headers
    from remit.kit.identity import Identity, Refusal
    from remit.kit.keys import Keys

_ISSUER: Final = "_APP_ISSUER"
_AUDIENCE: Final = "_APP_AUDIENCE"
_COMPONENT_URL: Final = "_APP_COMPONENT_URL"


class SettingsError(Exception):
    """A variable that Remit sets for a component is missing, or stands under two brands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """Which tokens a component believes.

    Attributes:
        issuer: the public URL of the Remit server.
        audience: ``<app id>/<component>``, or the app's own origin for ``auth: identity``.
        component_url: the public URL of this component, where it is known.
        keys: where the keys come from, or the key set itself; left out, those that the issuer
            publishes.
    """

    issuer: str
    audience: str
    component_url: str | None = None
    keys: Keys | Mapping[str, object] | None = None

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> App:
        """From ``<BRAND>_APP_ISSUER``, ``…_AUDIENCE`` and ``…_COMPONENT_URL``, under any brand.

        Raises:
            SettingsError: one of the first two is missing, or one of them stands twice.
        """
        environ = os.environ if environ is None else environ
        return cls(
            issuer=_needed(environ, _ISSUER),
            audience=_needed(environ, _AUDIENCE),
            component_url=_found(environ, _COMPONENT_URL),
        )

    def identity(self, headers: Headers, *, now_s: float | None = None) -> Identity | Refusal:
        """Whom a request to this component serves.

        Raises:
            KeysUnavailable: the keys could not be fetched, so that nothing can be said.
        """
        keys = keys_of(self.issuer) if self.keys is None else self.keys
        return identity(headers, keys=keys, issuer=self.issuer, audience=self.audience, now_s=now_s)


def component_url(path: str = "", *, environ: Mapping[str, str] | None = None) -> str:
    """The public URL of this component, with a path behind it: what ``embed_url`` is made of.

    Args:
        path: nothing, or a path that begins with ``/``; a query may follow.
        environ: the environment, where it is not the process's own.

    Raises:
        SettingsError: ``<BRAND>_APP_COMPONENT_URL`` is not set, or stands under two brands.
        ValueError: the path does not begin with one ``/``.
    """
    if path and (not path.startswith("/") or path.startswith("//")):
        msg = f"The path {path!r} must begin with one slash."
        raise ValueError(msg)
    environ = os.environ if environ is None else environ
    return _needed(environ, _COMPONENT_URL).rstrip("/") + path


def _needed(environ: Mapping[str, str], suffix: str) -> str:
    found = _found(environ, suffix)
    if found is None:
        raise SettingsError(
            f"No environment variable ends in {suffix}. Remit sets it when it starts a component; "
            f"where you start it yourself, set REMIT{suffix}."
        )
    return found


def _found(environ: Mapping[str, str], suffix: str) -> str | None:
    names = sorted(
        name
        for name, value in environ.items()
        if name.endswith(suffix) and len(name) > len(suffix) and value
    )
    if len(names) > 1:
        raise SettingsError(f"{' and '.join(names)} are both set. Unset all but one of them.")
    return environ[names[0]] if names else None
