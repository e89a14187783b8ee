"""Every rule: its id, its usual level, and one line of what it finds. Ids are never used again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from remit.lint import (
    rules_answers as answers,
)
from remit.lint import (
    rules_app as apps,
)
from remit.lint import (
    rules_danger as danger,
)
from remit.lint import (
    rules_hidden as hidden,
)
from remit.lint import (
    rules_models as models,
)
from remit.lint import (
    rules_parameters as parameters,
)
from remit.lint import (
    rules_requests as requests,
)
from remit.lint import (
    rules_texts as texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from remit.catalog.mistakes import Level
    from remit.lint.subject import AppView, Finding, ToolView

ToolCheck: TypeAlias = "Callable[[ToolView], Iterator[Finding]]"
AppCheck: TypeAlias = "Callable[[AppView], Iterator[Finding]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        id: stable, with a page in ``remit explain``.
        level: the usual one; a finding may say another.
        summary: what it finds, for a list of all rules.
    """

    id: str
    level: Level
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule(Rule):
    """A rule that looks at one tool at a time."""

    check: ToolCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRule(Rule):
    """A rule that looks at the app, or at its tools together."""

    check: AppCheck


def _tool(rule_id: str, level: Level, check: ToolCheck, summary: str) -> ToolRule:
    return ToolRule(id=rule_id, level=level, summary=summary, check=check)


def _app(rule_id: str, level: Level, check: AppCheck, summary: str) -> AppRule:
    return AppRule(id=rule_id, level=level, summary=summary, check=check)


TOOL_RULES: tuple[ToolRule, ...] = (
    _tool("empty-description", "warning", texts.empty_description, "a tool says nothing of itself"),
    _tool(
        "vague-description",
        "warning",
        texts.vague_description,
        "a description adds nothing to the name",
    ),
    _tool(
        "no-when-not",
        "warning",
        texts.no_when_not,
        "a description never says when not to use the tool",
    ),
    _tool(
        "hidden-characters",
        "warning",
        texts.hidden_characters,
        "a text holds characters nobody sees",
    ),
    _tool(
        "order-to-the-model",
        "warning",
        texts.order_to_the_model,
        "a description gives the model orders",
    ),
    _tool(
        "understated-danger",
        "warning",
        danger.understated_danger,
        "a tool does worse than it is called",
    ),
    _tool(
        "read-that-writes",
        "warning",
        danger.read_that_writes,
        "a method that writes is called read",
    ),
    _tool(
        "hidden-method",
        "warning",
        hidden.hidden_method,
        "a request asks to be treated as another method",
    ),
    _tool(
        "hidden-effect",
        "warning",
        hidden.hidden_effect,
        "a path, query or body does more than it is called",
    ),
    _tool(
        "mixed-script",
        "warning",
        hidden.mixed_script,
        "a letter of another script passes for a Latin one",
    ),
    _tool("get-that-writes", "note", danger.get_that_writes, "a GET is said to change something"),
    _tool(
        "destructive-without-approval",
        "warning",
        danger.destructive_without_approval,
        "a destructive tool does not ask",
    ),
    _tool(
        "effect-without-approval",
        "warning",
        danger.effect_without_approval,
        "a tool that spends or sends does not ask",
    ),
    _tool(
        "destructive-without-confirm",
        "note",
        danger.destructive_without_confirm,
        "an approval card shows bare arguments",
    ),
    _tool(
        "confirm-without-preview",
        "note",
        danger.confirm_without_preview,
        "an approval card shows the model's words only",
    ),
    _tool(
        "delete-everything",
        "warning",
        danger.delete_everything,
        "a DELETE needs no argument to say what goes",
    ),
    _tool(
        "scales-left-out",
        "note",
        danger.scales_left_out,
        "a target does not say how dangerous it is",
    ),
    _tool(
        "undescribed-parameter",
        "warning",
        parameters.undescribed_parameter,
        "a parameter has no description",
    ),
    _tool(
        "closed-set-without-enum",
        "warning",
        parameters.closed_set_without_enum,
        "a closed set is listed in words",
    ),
    _tool(
        "required-not-declared",
        "warning",
        parameters.required_not_declared,
        "a required name is not declared",
    ),
    _tool(
        "open-schema", "note", parameters.open_schema, "an object takes keys that it does not list"
    ),
    _tool(
        "secret-parameter",
        "warning",
        parameters.secret_parameter,
        "a secret would be stored and shown",
    ),
    _tool(
        "parameter-name",
        "note",
        models.parameter_name,
        "a provider does not take a parameter's name",
    ),
    _tool(
        "provider-refuses", "note", models.provider_refuses, "a provider does not take a keyword"
    ),
    _tool("not-held", "note", models.not_held, "no model can be held to a schema"),
    _tool("pin-only-slot", "note", requests.pin_only_slot, "only a pin can fill a reference"),
    _tool(
        "optional-in-path",
        "warning",
        requests.optional_in_path,
        "a path needs an optional argument",
    ),
    _tool(
        "optional-but-needed",
        "warning",
        requests.optional_but_needed,
        "a call fails without an optional argument",
    ),
    _tool(
        "no-such-field",
        "warning",
        requests.no_such_field,
        "a reference leads to no part of a parameter",
    ),
    _tool("unused-parameter", "warning", requests.unused_parameter, "a parameter is sent nowhere"),
    _tool(
        "unfilled-brace",
        "warning",
        requests.unfilled_brace,
        "a path holds a slot of another notation",
    ),
    _tool(
        "not-a-reference",
        "warning",
        requests.not_a_reference,
        "a text looks like a reference and is none",
    ),
    _tool(
        "credential-in-header",
        "warning",
        requests.credential_in_header,
        "a header carries a credential",
    ),
    _tool(
        "credential-in-request",
        "warning",
        requests.credential_in_request,
        "a query or body carries a credential",
    ),
    _tool(
        "whole-body-answer", "warning", answers.whole_body_answer, "the model gets the whole answer"
    ),
    _tool(
        "whole-array-answer",
        "warning",
        answers.whole_array_answer,
        "a mapping takes a list or object whole",
    ),
    _tool("empty-mapping", "warning", answers.empty_mapping, "a mapping hands on nothing"),
    _tool("many-fields", "warning", answers.many_fields, "a mapping hands on many fields"),
    _tool("each-without-limit", "note", answers.each_without_limit, "a list has no limit"),
    _tool(
        "mapping-never-used",
        "warning",
        answers.mapping_never_used,
        "polling makes responseMapping useless",
    ),
    _tool("renderer-fit", "warning", answers.renderer_fit, "the result cannot feed the renderer"),
    _tool("poll-budget", "warning", answers.poll_budget, "polling may give up before the job ends"),
    _tool("poll-interval", "warning", answers.poll_interval, "polls come too fast"),
    _tool("poll-forever", "warning", answers.poll_forever, "polling goes on for more than a day"),
    _tool(
        "no-failed-value", "note", answers.no_failed_value, "a failed job looks like a running one"
    ),
    _tool(
        "poll-value-twice", "warning", answers.poll_value_twice, "one status means done and failed"
    ),
    _tool("short-timeout", "warning", answers.short_timeout, "a write has hardly time to answer"),
    _tool("idempotent-get", "note", answers.idempotent_get, "a GET needs not say idempotent"),
    _tool("long-name", "note", models.long_name, "the offered name may be cut"),
)

APP_RULES: tuple[AppRule, ...] = (
    _app("empty-description", "warning", texts.skill_description, "a skill says nothing of itself"),
    _app("hidden-characters", "warning", texts.app_texts, "a text holds characters nobody sees"),
    _app("order-to-the-model", "warning", texts.app_orders, "a description gives the model orders"),
    _app(
        "briefing-orders", "warning", texts.briefing_orders, "the briefing is written as commands"
    ),
    _app("duplicate-title", "warning", texts.same_title, "two tools have one title"),
    _app(
        "duplicate-description", "warning", texts.same_description, "two tools have one description"
    ),
    _app("over-ceiling", "error", apps.over_ceiling, "a tool is over the ceiling"),
    _app(
        "would-be-dropped",
        "error",
        apps.would_be_dropped,
        "a fetched tool reaches beyond what was reviewed",
    ),
    _app(
        "ceiling-higher-than-tools",
        "note",
        apps.ceiling_higher_than_tools,
        "the ceiling asks for more than is used",
    ),
    _app("http-base-url", "warning", apps.http_base_url, "baseUrl is http"),
    _app("tools-url-http", "warning", apps.tools_url_http, "toolsUrl is http"),
    _app(
        "http-target", "warning", apps.http_target, "a component, target or sign-in address is http"
    ),
    _app(
        "env-without-source",
        "warning",
        apps.env_without_source,
        "an env reference has nothing to read",
    ),
    _app("unused-component", "note", apps.unused_component, "no tool calls a component"),
    _app("unused-env", "note", apps.unused_env, "no reference reads an env"),
    _app("unused-base-url", "note", apps.unused_base_url, "no tool calls baseUrl"),
    _app(
        "too-many-tools", "note", apps.too_many_tools, "a model cannot be given all tools at once"
    ),
    _app("no-tools", "note", apps.no_tools, "the app offers nothing"),
)

# What keeps a document or a tool from loading; found by remit.catalog and remit.documents.
LOAD_RULES: Mapping[str, str] = {
    "bad-document": "a file cannot be read as JSON or YAML",
    "unknown-key": "a key that no definition has",
    "missing-key": "a required key is not there",
    "wrong-type": "a value is of another type",
    "unknown-value": "a value is none of a closed set",
    "out-of-range": "a number is out of its bounds",
    "too-long": "a text is over its bound",
    "bad-name": "a name that cannot be used",
    "duplicate-name": "two tools have one name",
    "bad-schema": "parameters are no schema that Remit takes",
    "bad-reference": "a reference that cannot be read, or may not stand there",
    "bad-path": "a path that cannot be sent",
    "bad-url": "an address that cannot be used",
    "origin-mismatch": "two addresses that must share an origin do not",
    "bad-header": "a header that cannot be sent",
    "owned-header": "a header or parameter that Remit sets",
    "body-not-allowed": "a body on a method that has none",
    "bad-body": "a body that cannot be built",
    "bad-polling": "polling that cannot work",
    "bad-mapping": "a mapping that cannot be read",
    "bad-confirm": "a confirm that cannot work",
    "bad-render": "a render key that the renderer does not have",
    "one-destination": "a tool with no destination, or with two",
    "unknown-component": "a target names a component that is not declared",
    "unknown-tool": "a skill names a tool that is not there",
}

# Found by ``lint --fetch`` (remit.lint.fetches), which looks at the answer of ``toolsUrl``.
FETCH_RULES: tuple[Rule, ...] = (
    Rule(id="tools-url-unreachable", level="error", summary="toolsUrl gives no catalog"),
    Rule(id="tools-url-slow", level="warning", summary="toolsUrl is slow, or its catalog large"),
)

# Found when an app folder is built (remit.building), before its definition is looked at.
FOLDER_RULES: tuple[Rule, ...] = (
    Rule(id="no-app-yaml", level="error", summary="an app folder without app.yaml"),
    Rule(id="misplaced-key", level="error", summary="tools or skills in app.yaml"),
    Rule(id="misplaced-tools", level="error", summary="a tools file outside of a skill"),
    Rule(id="no-skill-file", level="error", summary="a skill's folder without SKILL.md"),
    Rule(id="bad-front-matter", level="error", summary="a SKILL.md without its front matter"),
    Rule(id="skill-name", level="error", summary="a skill and its folder have two names"),
    Rule(id="tools-json", level="error", summary="tools in a file that no tools are read from"),
    Rule(id="two-tools-files", level="error", summary="tools.py and tools.ts in one skill"),
    Rule(id="link-leaves-folder", level="error", summary="a link that leads out of the folder"),
    Rule(id="tools-failed", level="error", summary="a tools file that cannot be run"),
    Rule(id="tools-timeout", level="error", summary="a tools file that never comes to an end"),
    Rule(id="no-tools-list", level="error", summary="a tools file without a list named tools"),
    Rule(id="bad-tool", level="error", summary="an entry of a tools file that is no tool"),
    Rule(id="no-json-schema", level="error", summary="an input that gives no JSON Schema"),
    Rule(id="no-node", level="error", summary="a tools.ts, and no Node to run it"),
    Rule(id="no-type-stripper", level="error", summary="nothing that takes the types off"),
    Rule(id="route-not-answered", level="warning", summary="a component without a tool's route"),
    Rule(id="component-not-reached", level="warning", summary="a component that is not there"),
)


def every_rule() -> tuple[Rule, ...]:
    """Every rule once, those that keep a document from loading first."""
    load = [Rule(id=key, level="error", summary=text) for key, text in LOAD_RULES.items()]
    rules: dict[str, Rule] = {}
    for rule in (*load, *TOOL_RULES, *APP_RULES, *FETCH_RULES, *FOLDER_RULES):
        rules.setdefault(rule.id, rule)
    return tuple(rules.values())
