"""A user's credential as the text that is sealed: JSON with all that is known of it.

Expiry and account are sealed with it, so that a row of the store cannot lend one credential the
account or the life of another.
"""

from __future__ import annotations

from typing import Final, cast, get_args

from remit.documents.canonical import compact_json
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.gateway.keeping import Credential, CredentialType, VaultFault
from remit.values.secrets import Secret
from remit.vault.envelopes import MAX_PLAIN_BYTES

_TYPES: Final = get_args(CredentialType)


def text_of(credential: Credential) -> Secret:
    """The text to seal; what is not known is left out."""
    record: dict[str, object] = {"type": credential.type, "secret": credential.secret.reveal()}
    if credential.expires_at_s is not None:
        record["expiresAt"] = credential.expires_at_s
    if credential.account is not None:
        record["account"] = credential.account
    return Secret(compact_json(record))


def credential_of(text: Secret) -> Credential:
    """The credential of an opened text; keys that a newer Remit wrote are passed over.

    Raises:
        VaultFault: the text is no credential, as when an env value's was opened in its place.
    """
    record = _record(text)
    kind, secret = record.get("type"), record.get("secret")
    expires, account = record.get("expiresAt"), record.get("account")
    if (
        kind not in _TYPES
        or not isinstance(secret, str)
        or isinstance(expires, bool)
        or not isinstance(expires, int | None)
        or not isinstance(account, str | None)
    ):
        raise VaultFault("What was opened is no credential. Connect the account again.")
    return Credential(
        type=cast("CredentialType", kind),
        secret=Secret(secret),
        expires_at_s=expires,
        account=account,
    )


def _record(text: Secret) -> dict[str, object]:
    try:
        value = parse_json(text.reveal(), max_bytes=MAX_PLAIN_BYTES)
    except DocumentError:
        # It quotes the text, so it must not even be the context of what is raised.
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
