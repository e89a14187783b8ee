"""Rules on honest danger: what a tool is called against what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.reading import is_object
from remit.catalog.scales import Category, DangerLevel
from remit.lint.subject import Finding
from remit.lint.words import (
    Effect,
    effect_in_description,
    effect_in_name,
    effect_in_path,
    reads,
    unmarks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.lint.subject import ToolView

_PHRASES: dict[Effect, str] = {
    "destroys": "takes something away",
    "spends": "moves money",
    "sends": "reaches other people",
}


def understated_danger(view: ToolView) -> Iterator[Finding]:
    """A destructive tool that is called harmless."""
    if view.danger is not DangerLevel.SAFE and view.category is not Category.READ:
        return
    called = _called(view)
    if view.method == "DELETE":
        if view.category is Category.READ or not unmarks(view.name):
            yield Finding(
                _scale_at(view),
                f"a DELETE is called {called}",
                "say how bad it is when the agent is wrong: moderate where it can be undone, else "
                "destructive",
            )
        return
    if found := _effect(view):
        effect, word, where = found
        yield Finding(
            _scale_at(view),
            f'"{word}" in the {where} says that it {_PHRASES[effect]}, yet it is called {called}',
            "raise dangerLevel (and category) to what a mistake would cost, "
            "or say in the description why it is harmless",
        )


def read_that_writes(view: ToolView) -> Iterator[Finding]:
    """A method that changes things under the category that changes nothing."""
    if view.category is not Category.READ or view.method not in ("POST", "PUT", "PATCH"):
        return
    if view.method == "POST" and (reads(view.name) or _path_reads(view.path)):
        return
    if not view.record.get("category"):
        return
    yield Finding(
        "/category",
        f"{view.method} is called read, which promises that nothing is changed",
        "call it write or action, or, where it only reads, begin its name with a verb such as "
        "search or get",
    )


def get_that_writes(view: ToolView) -> Iterator[Finding]:
    """A GET that is said to change something."""
    if (
        view.method == "GET"
        and "category" in view.record
        and view.category in (Category.WRITE, Category.ACTION)
    ):
        yield Finding(
            "/category",
            f"a GET is called {view.category.value}: servers and proxies may repeat or cache a GET",
            "use POST where something changes, or call it read where nothing does",
        )


def destructive_without_approval(view: ToolView) -> Iterator[Finding]:
    """A destructive tool that does not ask (seed: the checklist)."""
    # Any other value is an error of its own.
    left_out = view.record.get("requiresApproval", False) is False
    if view.danger is DangerLevel.DESTRUCTIVE and left_out:
        yield Finding(
            view.place("requiresApproval"),
            "it is destructive, and requiresApproval is not set: whether a person is asked is "
            "left to the policy",
            "write requiresApproval: true",
        )


def destructive_without_confirm(view: ToolView) -> Iterator[Finding]:
    """A destructive tool whose card shows bare arguments."""
    if view.danger is DangerLevel.DESTRUCTIVE and "confirm" not in view.record:
        yield Finding(
            "",
            "it is destructive and has no confirm: a person is shown its arguments and has to "
            "know what they mean",
            "add confirm: {title, preview} to name the thing that goes",
        )


def confirm_without_preview(view: ToolView) -> Iterator[Finding]:
    """A card that names things by the model's arguments alone."""
    confirm = view.record.get("confirm")
    if is_object(confirm) and "preview" not in confirm:
        yield Finding(
            "/confirm",
            "confirm has no preview: the card can show only what the model wrote, not what is "
            "really there",
            "add preview: {tool, args} with a read, safe tool of this catalog",
        )


def effect_without_approval(view: ToolView) -> Iterator[Finding]:
    """A tool that spends or sends and does not ask (seed: money, and what startles)."""
    if view.approved or view.danger is DangerLevel.DESTRUCTIVE or view.method == "GET":
        return
    found = _effect(view)
    if found is None or found[0] == "destroys":
        return
    effect, word, where = found
    yield Finding(
        view.place("requiresApproval"),
        f'"{word}" in the {where} says that it {_PHRASES[effect]}, and requiresApproval is not set',
        "write requiresApproval: true, so that nobody learns of it after the fact",
    )


def delete_everything(view: ToolView) -> Iterator[Finding]:
    """A DELETE that needs no argument to say what goes."""
    if view.method != "DELETE" or view.tool is None:
        return
    sent = [use for use in view.uses if use.part in ("path", "query", "body", "header")]
    if any(use.argument in view.required or use.part == "path" for use in sent):
        return
    if sent:
        message = (
            f"no argument is required: without them the call is a DELETE of {view.path}, all of it"
        )
        mend = "require the argument that says what goes, or put it into the path"
    else:
        message = f"it takes no argument: each call is the same DELETE of {view.path}"
        mend = "let an argument name the one thing that goes"
    yield Finding(view.path_at, message, mend)


def scales_left_out(view: ToolView) -> Iterator[Finding]:
    """A target whose danger was not said (contract section 2)."""
    if view.tool is None or view.tool.scales_declared:
        return
    missing = [key for key in ("category", "dangerLevel") if key not in view.record]
    yield Finding(
        "",
        f"{' and '.join(missing)} left out: it counts as "
        f"{view.tool.category.value}/{view.tool.danger_level.value}",
        "write both, so that a reviewer reads what you mean",
    )


def _effect(view: ToolView) -> tuple[Effect, str, str] | None:
    """The effect that a tool's words speak of: the effect, the word, and where it stands."""
    if unmarks(view.name):
        return None
    if found := effect_in_name(view.name):
        return (*found, "name")
    if reads(view.name) and view.method in ("", "GET"):
        return None
    if view.title and (found := effect_in_name(view.title)):
        return (*found, "title")
    if found := effect_in_description(view.description):
        return (*found, "description")
    if not reads(view.name) and (found := effect_in_path(view.path, view.method)):
        return (*found, "path")
    return None


def _path_reads(path: str) -> bool:
    segments = [s for s in path.split("?")[0].split("/") if s and "{" not in s]
    last = segments[-1] if segments else ""
    return reads(last) or last.lower() == "graphql"


def _called(view: ToolView) -> str:
    names = [scale.value for scale in (view.category, view.danger) if scale is not None]
    return " and ".join(name for name in names if name in ("read", "safe")) or "/".join(names)


def _scale_at(view: ToolView) -> str:
    key = "dangerLevel" if view.danger is DangerLevel.SAFE else "category"
    return view.place(key)
