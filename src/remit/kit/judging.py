"""What is wrong with a handler's answer by the contract (section 8), for the local runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from remit.kit.addresses import embed_fault
from remit.kit.answers import MAX_MARKDOWN
from remit.kit.card_rules import card_faults
from remit.kit.strict_json import strict_json, strict_object

if TYPE_CHECKING:
    from remit.kit.headers import ToolContext
    from remit.kit.tools import Record, Tool

_NO_CARD: Final = ["A card needs a thread, and the API calls. Answer an error, such as 409."]
_STATUSES: Final = {
    404: "There is no such route. Route the handler under the target's path.",
    405: "The route does not take the target's method. Let handler and target name the same.",
    401: "The identity was refused. Start the component with this issuer and audience.",
}


def faults_of(
    tool: Tool, context: ToolContext, *, status: int, content_type: str, body: bytes
) -> list[str]:
    """Every fault, each as a sentence with its mend; none where the answer is good."""
    if 300 <= status < 400:
        return [f"Redirects are not followed, and {status} is one. Answer in the route itself."]
    if not 200 <= status < 300:
        return _faults_of_error(status, content_type, body)
    # With a mapping, and of a job, the channels' names are data like any other.
    has_channels = tool.response_mapping is None and tool.polling is None
    if not body.strip():
        return ["The answer is empty. Answer a text, or JSON with content."] * has_channels
    if not _is_json(content_type):
        return []
    try:
        answer = strict_json(body)
    except ValueError as error:
        return [f"The answer is called JSON, and cannot be read: {error}."]
    said = cast("Record", answer) if isinstance(answer, dict) else None
    if said is not None and said.get("type") == "action_required":
        return _NO_CARD * (context.source == "api") + card_faults(said)
    if not has_channels or (isinstance(answer, str) and answer.strip()):
        return []
    if said is None:
        return ["The answer is JSON, but neither a text nor an object with content."]
    return _faults_of_channels(said)


def _faults_of_error(status: int, content_type: str, body: bytes) -> list[str]:
    faults = [_STATUSES[status]] if status in _STATUSES else []
    try:
        said = strict_object(body) if _is_json(content_type) else {}
    except ValueError:
        said = {}
    if not all(isinstance(said.get(key), str) and said[key] for key in ("code", "error")):
        faults.append(
            "The error is no JSON of the form {code, error}, and its words reach the agent only "
            "as raw text. Raise a DomainError."
        )
    return faults


def _faults_of_channels(answer: Record) -> list[str]:
    faults: list[str] = []
    content = answer.get("content")
    if not (isinstance(content, str) and content.strip()):
        faults.append("content is missing, empty or no text. It is what the model reads.")
    markdown = answer.get("markdown")
    if markdown is not None and not isinstance(markdown, str):
        faults.append("markdown is no text.")
    elif markdown is not None and len(markdown) > MAX_MARKDOWN:
        faults.append(f"markdown has more than {MAX_MARKDOWN} characters.")
    embed = answer.get("embedUrl")
    if embed not in (None, "") and (
        fault := embed_fault(embed) if isinstance(embed, str) else "is no text"
    ):
        faults.append(f"embedUrl {fault}. It would be left off the card.")
    return faults


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")
