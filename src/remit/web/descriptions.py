"""What the OpenAPI document says of each property and parameter, in one plain sentence.

A property of a type has its own words, or those that its name has everywhere; a test holds that
none has no words, and that no words are left over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: By the name of the property, wherever it stands.
EVERYWHERE: Mapping[str, str] = {
    "account": "The account at the app that the credential is of, for people to read.",
    "app": "The id of the app.",
    "at": "When it happened, as RFC 3339 in UTC.",
    "by": "Who did it: a user, a key by its id, or the system.",
    "callId": "The id of the call, by which its record is read.",
    "category": "What the tool does to the world: read, write or action.",
    "ceiling": "The highest category and danger level that tools of the version may have.",
    "change": "What the changed definition makes: none, an edit, or a version to review.",
    "code": "The reason as one word for programs; it never changes its meaning.",
    "consent": "Who consents: each user for themselves, or the reviewer for the workspace.",
    "createdAt": "When it was made, as RFC 3339 in UTC.",
    "createdBy": "Who made it: a user, a key by its id, or the system.",
    "cursor": "Where the part of the list begins: the next of the part before.",
    "dangerLevel": "How much a call may break: safe, moderate or destructive.",
    "decidedAt": "When a reviewer decided, as RFC 3339 in UTC.",
    "decidedBy": "Who decided: a key by its id, or the system.",
    "definition": "The whole definition of the app as a JSON object.",
    "clientId": "The id that the client has given itself, such as one for each browser tab.",
    "clientToken": "The secret of a token for the session's client; it is shown this once.",
    "details": "Further facts about the error, such as the status that the app answered.",
    "device": "The id of the registered device of the user that the client runs on.",
    "diff": "Each change with its tool, its place, and what stood there before and stands now.",
    "expiresAt": "When it stops working, as RFC 3339; without it, it does not stop by itself.",
    "findings": "What is wrong or worth a look, each with its rule, place, words and mend.",
    "headSeq": "The number of the newest event of the log; 0 is before the first.",
    "id": "The id by which it is named in paths and lists.",
    "inputId": "The id of the input: what a person has to answer, or answered.",
    "notes": "What whoever made or changed it should know: a pin that no tool has, say.",
    "inputs": "What waits for a person now, as GET /v1/inputs/{input} gives it.",
    "kind": "What was done, such as app.approved.",
    "limit": "The most items that the part of the list has.",
    "model": "The language model by its name; left out where it is the server's own.",
    "name": "A name for people, by which the key is told from others.",
    "needsConsent": "Whether users must consent anew before the version works for them.",
    "pins": "Arguments that are fixed by name, and that the model can neither see nor change.",
    "prefix": "The first characters of the secret, to know it by; they open nothing.",
    "reason": "Why, in words that people are shown.",
    "reasons": "Why it is a version and no edit, in words; empty for an edit.",
    "remitDigest": "The digest of the remit, which is what a reviewer approves.",
    "revokedAt": "When it was taken back, as RFC 3339 in UTC; without it, it holds.",
    "revokedBy": "Who took it back: a user, a key by its id, or the system.",
    "role": "What the key may do: operator, backend, or user and client for tokens.",
    "runId": "The id of the run: one stretch of the agent's work.",
    "session": "The id of the session that a client token is for.",
    "snapshot": "The digest of the fetched catalog, as GET /v1/apps/{app}/catalog gives it.",
    "status": "How far the version is: submitted, approved, rejected or superseded.",
    "submittedAt": "When it was submitted, as RFC 3339 in UTC.",
    "submittedBy": "Who submitted it: a key by its id, or the system.",
    "title": "The first words of the first message, for lists.",
    "tool": "The name of the tool.",
    "tools": "The tools that it may call, as names with * and ?; without it all of its apps.",
    "updatedAt": "When it was changed last, as RFC 3339 in UTC.",
    "user": "The id of the user, as your back end knows it; ids are compared exactly.",
    "version": "The number of the version, counted from 1.",
}

#: By type and property, where the name alone would say too little.
OWN: Mapping[tuple[str, str], str] = {
    ("AnswerBody", "cancel"): "Takes the call back: nothing is sent, and nobody is asked again.",
    ("AnswerBody", "decision"): "Says yes or no to an approval.",
    ("AnswerBody", "digest"): (
        "The digest of the input that the person was shown: with it the answer holds for that very "
        "request alone, and is refused with 409 stale_digest where the input has another; always "
        "send it when a person decides."
    ),
    ("AnswerBody", "note"): "What the person says with a no; the agent is told it.",
    ("AnswerBody", "press"): "The id of the button that was pressed; an approval has none.",
    ("AnswerBody", "remember"): (
        "Lets further calls of the tool pass in this session; a yes alone takes it, and only where "
        "nothing but a policy asked."
    ),
    ("AnswerBody", "skip"): "Goes on without an answer; an approval cannot be skipped.",
    ("AnswerBody", "user"): (
        "The id of the person who answers: a back end's key must name them, and an operator's key "
        "that names somebody answers as that user."
    ),
    ("AppRow", "id"): "The id of the app.",
    (
        "AppRow",
        "inForce",
    ): "The number of the version in force; left out before the first approval.",
    ("AppRow", "installation"): "The id of this app in this workspace; no two ever have the same.",
    ("AppRow", "suspended"): "Who suspended the app and why; left out while it is not.",
    ("AppAnswer", "version"): "The number of the version that is shown: in force, else the newest.",
    ("AnnounceBody", "context"): "What the user is looking at, as an object of at most 8 KiB.",
    ("AnnounceBody", "tools"): "The tools that the client executes, each with name and parameters.",
    (
        "AnnounceBody",
        "widgets",
    ): "The widgets that the client draws, each with name and parameters.",
    ("ApproveBody", "ceiling"): "A lower ceiling than the author asks for; without it that one.",
    ("ApproveBody", "digest"): (
        "The digest of the remit that the reviewer read: with it the approval holds for that very "
        "remit alone, and is refused with 409 stale_digest where the version has another; always "
        "send it when a person decides."
    ),
    ("AuditAnswer", "actor"): "Who did it: a user, a key by its id, or the system.",
    ("AuditAnswer", "detail"): "Further facts about the act; never a secret.",
    ("AuditAnswer", "subject"): "What it was done to, such as app/acme/1.",
    ("AuditQuery", "from"): "The earliest time, which counts in.",
    ("AuditQuery", "to"): "The time before which the entries are.",
    ("AgainstQuery", "against"): "The version that is compared with; without it the one before.",
    ("CallAnswer", "content"): "What a model should read of it, as text; never empty.",
    (
        "CallAnswer",
        "display",
    ): "How the result is drawn: {renderer, data}; left out where it is not.",
    ("CallAnswer", "error"): "Why the call came to no result; left out where it did.",
    ("CallAnswer", "outcome"): (
        "How it ended: ok, error, denied, skipped, expired, cancelled or outcome_unknown; while it "
        "has not: waiting_human, polling or sending."
    ),
    ("CallAnswer", "repaired"): "What was repaired in the arguments without loss, in words.",
    ("CallAnswer", "result"): "The mapped result; there only where the call came to one.",
    ("CallBody", "args"): "The arguments by name, as the tool's parameters describe them.",
    ("CallBody", "user"): "The id of the user whom the call is for; a token's own may be left out.",
    ("CallError", "mayHaveHappened"): (
        "Whether the action may have happened all the same: then read the state before a repeat."
    ),
    ("CallError", "message"): "What went wrong and what to do, for a person.",
    ("Accepted", "seq"): "The number of the message's event in the log.",
    ("CallsQuery", "from"): "The earliest time of a call, which counts in.",
    ("CallsQuery", "outcome"): "How the calls ended.",
    ("CallsQuery", "session"): "The id of the session that the calls are of.",
    ("CallsQuery", "to"): "The time before which the calls are.",
    ("CatalogAnswer", "accepted"): "The digest of the fetched catalog that a reviewer let in.",
    ("CatalogAnswer", "ageSeconds"): "How old the fetched catalog is; null where none is fetched.",
    ("CatalogAnswer", "digest"): "The digest of the catalog as calls find it now.",
    ("CatalogAnswer", "dropped"): "The tools that were left out, each with the reason.",
    ("CatalogAnswer", "fault"): "Why the last fetch failed; left out where it did not.",
    ("CatalogAnswer", "sinceReview"): "What the last good fetch changed of the accepted catalog.",
    ("CatalogAnswer", "snapshot"): "The digest of the last catalog that was fetched well.",
    (
        "CatalogAnswer",
        "source",
    ): "How the catalog came to be: static, or fetched: fresh, unchanged or stale.",
    ("CatalogAnswer", "tools"): "The tools that can be called, with the judgement in force.",
    ("CeilingBody", "category"): "The highest category that a tool may have.",
    ("CeilingBody", "dangerLevel"): "The highest danger level that a tool may have.",
    (
        "ConnectionAnswer",
        "expired",
    ): "Whether the credential has expired, so that calls need a new one.",
    ("ConnectionAnswer", "type"): "The kind of credential: bearer, basic or apiKey.",
    ("ClaimAnswer", "app"): "The id of the app whose tool it is; a client's own tool has none.",
    ("ClaimAnswer", "args"): "The arguments, whole: secret ones are for the handler alone.",
    ("ClaimAnswer", "claim"): "What the client ends the call with; nobody else has it.",
    ("ClaimAnswer", "handler"): "The name of the handler that an app's tool goes to.",
    ("ClaimAnswer", "timeoutMs"): "How long the client has, in milliseconds.",
    ("ClientErrorBody", "code"): (
        "Whether the handler threw, gave back what is no plain JSON, or refused its arguments."
    ),
    ("ClientErrorBody", "message"): "What went wrong, as the agent is told it.",
    ("ClientTokenBody", "device"): (
        "The id of a registered device of the user, which the token proves; without it, none."
    ),
    ("ClientTokenBody", "ttlS"): "How long the token lives, in seconds; 900 without it.",
    ("ConnectionBody", "key"): "The key of an apiKey credential; never read out again.",
    ("ConnectionBody", "password"): "The password of a basic credential; never read out again.",
    ("ConnectionBody", "token"): "The token of a bearer credential; never read out again.",
    ("ConnectionBody", "type"): "The kind of credential, which the app's auth must take.",
    ("ConnectionBody", "username"): "The user name of a basic credential.",
    ("DeviceAnswer", "id"): "The id of the device, as your back end made it up.",
    ("DeviceAnswer", "lastSeenAt"): (
        "When a client on it last sent something, to the minute; left out before the first time."
    ),
    ("DeviceAnswer", "name"): "The name by which its user knows it.",
    ("DeviceBody", "name"): "The name by which its user knows it; the agent reads it, too.",
    ("DeviceBody", "user"): "The id of the user whose device it is.",
    ("DevicesQuery", "user"): "The id of the user whose devices are listed.",
    ("DryRunQuery", "dryRun"): "Whether only to answer what the change would make.",
    ("EventAnswer", "at"): "When it was committed, as RFC 3339 in UTC.",
    ("EventAnswer", "data"): "What happened, as `remit schema event` describes it by type.",
    ("EventAnswer", "seq"): "The number of the event: 1 for the first, without gaps.",
    ("EventAnswer", "type"): "What happened, as one word, such as message or tool_call.",
    ("EventsAnswer", "events"): "The events of this part, in their order.",
    ("EventsAnswer", "next"): "What the next part has as its after; null at the head of the log.",
    ("EventsQuery", "after"): (
        "The number of the last event that the reader has; a Last-Event-ID wins over it."
    ),
    ("EventsQuery", "limit"): "The most events that the part has; a stream has no end.",
    ("GrantBody", "version"): "The number of the version that the user was shown and consents to.",
    ("InputsQuery", "session"): "The id of the session that the inputs are of.",
    ("InputsQuery", "status"): "How far the inputs are: open ones wait for a person.",
    ("KeyAnswer", "apps"): "The ids of the apps that a token may reach.",
    (
        "KeyAnswer",
        "lastUsedAt",
    ): "When it was used last, to the minute; left out where it never was.",
    ("KeyAnswer", "pins"): "The names of the arguments that a token fixes.",
    ("KeyAnswer", "user"): "The id of the user whom a token speaks for; a key has none.",
    ("KeyBody", "role"): "What the key may do: everything, or what concerns users and calls.",
    ("Keys", "keys"): "The public keys that verify identity tokens, as JSON Web Keys.",
    ("List", "items"): "The items of this part of the list.",
    ("List", "next"): "The cursor of the next part; null at the end.",
    ("MessageBody", "context"): (
        "What the user is looking at, as an object of at most 8 KiB; the agent gets the newest, "
        "and it never fills an argument."
    ),
    ("MessageBody", "queue"): "Whether it may wait for the run that goes on now.",
    ("MessageBody", "text"): "What the user says.",
    ("MessageBody", "withdraw"): "Whether to cancel open inputs and to go on with this.",
    ("NewKey", "key"): "The secret of the key, which is shown this once.",
    ("NewToken", "token"): "The secret of the token, which is shown this once.",
    ("PolicyAnswer", "number"): "The number of the policy; 0 where none was ever put.",
    (
        "PolicyAnswer",
        "policy",
    ): "The policy as a JSON object, as `remit schema policy` describes it.",
    ("Problem", "detail"): "What is wrong and what to do, for a person.",
    ("Problem", "input"): "The input as it stands, where an answer came too late or was stale.",
    ("Problem", "requestId"): "The id by which the operator finds the request in the log.",
    ("Problem", "status"): "The HTTP status once more.",
    ("Problem", "title"): "The name of the HTTP status.",
    ("Problem", "type"): "Always about:blank: the code says what it is.",
    ("RemitAnswer", "digest"): "What an approval of exactly this text sends as its digest.",
    (
        "RemitAnswer",
        "sections",
    ): "The parts of the remit, each with its id, its title and its lines.",
    ("LeaseAnswer", "leftOut"): (
        "What of the announcement this session does not offer, and why; left out where nothing is."
    ),
    ("LeaseAnswer", "leaseMs"): (
        "How long the client is held to be there, in milliseconds; it repeats itself well before."
    ),
    ("RemitQuery", "format"): "How the remit is written: as JSON, as plain text or as Markdown.",
    ("ResultBody", "claim"): "What the client was given as it claimed the call.",
    ("ResultBody", "error"): "Why there is no result; in place of a result.",
    ("ResultBody", "result"): "What the handler gave back, as plain JSON; left out it is null.",
    ("ResumeBody", "threadId"): "The id of the session that the input is of.",
    ("SessionAppBody", "pins"): "Arguments that are fixed for all tools of the app.",
    ("SessionAppBody", "tools"): "What is fixed for single tools, by name; it wins over the rest.",
    ("SessionBody", "apps"): (
        "The apps that the agent works with: ids, or objects with pins of their own; may be empty."
    ),
    ("SessionBody", "clientCeiling"): "The highest judgement that a client's own tools may have.",
    (
        "SessionBody",
        "clientTools",
    ): "The only names of tools that clients may bring; without it any.",
    ("SessionBody", "instructions"): "What your back end tells the agent, beside the apps' texts.",
    ("SessionBody", "model"): "The language model by its name; without it the server's own.",
    ("SessionBody", "tools"): "What of the apps is offered, as names with * and ?; without it all.",
    (
        "SessionListed",
        "apps",
    ): "The apps of the session, each in the version that it was made with.",
    ("SessionListed", "status"): (
        "How far it is: idle, running, waiting_human, waiting_client or closed."
    ),
    ("SessionListed", "updatedAt"): "When something happened in it last, as RFC 3339 in UTC.",
    ("SessionPatchBody", "apps"): "All apps from the next run on; without it they stay.",
    ("SessionPatchBody", "instructions"): "The instructions from the next run on; null for none.",
    ("SessionPatchBody", "pins"): "The pins from the next run on, in place of those there were.",
    ("SessionsQuery", "app"): "The id of an app that the sessions have.",
    ("SessionsQuery", "from"): "The earliest time that a session was made, which counts in.",
    ("SessionsQuery", "status"): "How far the sessions are.",
    ("SessionsQuery", "to"): "The time before which the sessions were made.",
    ("SessionsQuery", "user"): "The id of the user whose sessions are listed.",
    ("State", "status"): "One word: ok, or ready.",
    ("TokenBody", "apps"): "The ids of the apps that the token may reach; at least one.",
    ("TokenBody", "ttlS"): "How long the token lives, in seconds.",
    ("TokenBody", "user"): "The id of the user whom the token speaks for.",
    ("ToolsQuery", "for"): "The provider or protocol whose form the tools are written in.",
    ("VersionRow", "edit"): "How many edits the version has had; 0 as it was submitted.",
    ("VersionRow", "reason"): "Why a reviewer refused the version.",
}

#: By the name of a path's parameter.
IN_PATH: Mapping[str, str] = {
    "app": "The id of the app.",
    "call": "The id of the call.",
    "client": "The id that the client has given itself, such as one for each browser tab.",
    "collection": "The name of the collection of environment values.",
    "device": "The id of the device, as your back end made it up; percent-encoded.",
    "environment": "The name of the environment, such as production.",
    "grant": "The id of the consent.",
    "input": "The id of the input.",
    "key": "The id of the key, which is not its secret.",
    "session": "The id of the session.",
    "token": "The id of the token, which is not its secret.",
    "tool": "The name of the tool.",
    "user": "The id of the user, percent-encoded.",
    "version": "The number of the version, counted from 1.",
}


def described(kinds: tuple[str, ...], name: str) -> str | None:
    """What a property is said to be; None where there are no words for it.

    Args:
        kinds: the name of its type, then those that the type extends.
        name: of the property, as JSON has it.
    """
    own = next((OWN[kind, name] for kind in kinds if (kind, name) in OWN), None)
    return own if own is not None else EVERYWHERE.get(name)
