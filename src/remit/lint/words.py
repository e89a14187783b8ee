"""What words say: the judgements that rules make of names and descriptions.

Words are judged, never known, so each list is kept narrow: a rule that is wrong every tenth time
is read as noise every time. What is judged here is a warning, never an error.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

Effect: TypeAlias = Literal["destroys", "spends", "sends"]


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-\s./]+")
_DESTROYS = word_set(
    "delete remove erase purge wipe destroy truncate overwrite revoke terminate uninstall cancel "
    "reset deactivate obliterate discard"
)
_SPENDS = word_set("pay charge refund purchase buy checkout payout withdraw transfer spend")
_SENDS = word_set("send publish deploy broadcast notify email invite announce release")
_WORDS: tuple[tuple[Effect, frozenset[str]], ...] = (
    ("destroys", _DESTROYS),
    ("spends", _SPENDS),
    ("sends", _SENDS),
)
# Nouns of money: creating one of them spends it.
_MONEY = word_set(
    "payment payments charge charges refund refunds payout payouts transfer transfers purchase"
)
_MAKES = word_set("create new make add submit issue start trigger execute")
# "Drop" is a pin on a map as often as a table.
_DROPPED = word_set("table tables database db index collection schema partition column all")
# What may be reset, cleared or discarded without harm: a view, not a thing.
_VIEW = word_set("view zoom filter filters camera search cursor selection sort layout page scroll")
READING = word_set(
    "get list find search fetch read show view check count preview describe compare lookup look "
    "estimate simulate validate verify explain query inspect is has can dry test download export "
    "browse summarize calculate compute resolve suggest match filter diff analyze analyse report "
    "convert translate render evaluate quote detect parse"
)
# In a path or query, where a reading tool sends it all the same.
ORDERS = word_set("delete remove erase purge wipe destroy truncate obliterate terminate revoke")
_THINGS = word_set(
    "request requests reason reasons job jobs log logs event events marker markers history policy "
    "policies preview status option options rule rules task tasks queue report reports candidates"
)
_SAYS_WHAT = word_set("action act op operation cmd command do verb method")
# Cyrillic and Greek letters that are drawn like Latin ones.
_ALIKE = (
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u0501\u04bb"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0405\u0408"
    "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
)
_LATIN = re.compile(r"[A-Za-z]")
_LOOKALIKE = re.compile(f"[{_ALIKE}]")
_MIXED = re.compile(f"[A-Za-z0-9_{_ALIKE}]+")
# Verbs whose DELETE takes back a mark, not a thing.
_UNMARKS = word_set(
    "unlike unstar unfollow unpin unmute unsubscribe unassign unwatch unarchive unlock unsave "
    "unblock unhide undo leave deselect"
)
# Verb forms that are no nouns: safe to find in the middle of a sentence.
_PLAIN_VERBS = word_set(
    "deletes removes erases purges wipes destroys overwrites revokes cancels terminates "
    "sends publishes deploys broadcasts pays"
)
_OPENING = re.compile(
    r"\s*(?:(?:this (?:tool|function|operation|endpoint)|it|will|can|use (?:this|it) to|"
    r"permanently|irreversibly|immediately|completely|instantly|automatically|safely)\s+)*"
    r"([a-z]+)(?:,?\s+(?:and|or|then)\s+(?:then\s+|permanently\s+)?([a-z]+))?",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    r"(?:\band|\bthen|,)\s+(?:then\s+|permanently\s+|also\s+)?([a-z]+)", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?;:\n]")
_NEGATION = re.compile(r"\b(?:not|never|without|instead|unless|except|n't|but)\b", re.IGNORECASE)

_WHEN_NOT = re.compile(
    r"\b(?:not|never|no|cannot|only|instead|avoid|unless|except|rather|nothing|neither|without|"
    r"until|refuses?|fails? (?:if|when))\b|n['\u2019]t\b"
    # Naming the tool for the other case says the same.
    r"|\b(?:use|see|call|via)\s+[`'\"]?[a-z]+_[a-z_]+",
    re.IGNORECASE,
)
_WHEN_NOT_ELSEWHERE = re.compile(
    # German, French, Spanish, Portuguese, Italian, Dutch, Russian; Chinese, Japanese, Korean
    r"\b(?:nicht|nie|niemals|nur|statt|außer|kein\w*|ne|pas|jamais|seulement|uniquement|sauf|plutôt|"
    r"nunca|solo|sólo|salvo|excepto|não|apenas|exceto|non|mai|tranne|niet|nooit|alleen|behalve|"
    r"не|никогда|только|кроме|вместо)\b"
    r"|不|勿|别|別|仅|僅|只|ない|せず|のみ|だけ|않|말|마십|만\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_FILLERS = word_set("a an the this tool to of")

_VALUE = r"[\w.+ -]{1,40}"
_QUOTED = rf"(?:'{_VALUE}'|\"{_VALUE}\"|`{_VALUE}`|\u201c{_VALUE}\u201d|\u2018{_VALUE}\u2019)"
_BARE = r"[\w+-]{1,30}"
_EITHER = rf"(?:{_QUOTED}|{_BARE})"
_LISTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # 'a' | 'b', "a", "b" or "c"
        rf"{_QUOTED}(?:\s*[,|/]\s*(?:or\s+|and\s+)?|\s+or\s+){_QUOTED}",
        # a | b, asc|desc
        rf"(?<![\w|]){_EITHER}\s*\|\s*{_EITHER}(?![\w|]*\|\|)",
        # one of a, b, c; one of: a or b
        rf"\bone of(?: the following)?:?\s+{_EITHER}(?:\s*[,/]\s*|,?\s+or\s+){_EITHER}",
        # allowed values: a, b
        r"\b(?:allowed|possible|valid|accepted|supported|permitted)"
        r"(?: (?:values?|options?|types?))?"
        rf"(?: are| is|:)+\s*{_EITHER}(?:\s*[,/]\s*|,?\s+(?:or|and)\s+){_EITHER}",
        # asc or desc
        r"\basc(?:ending)?\b\W{1,4}(?:or\W{1,2})?desc(?:ending)?\b",
        # either open or closed.
        rf"\beither\s+({_BARE})\s+or\s+({_BARE})\s*(?:[.;)]|$)",
        # must be low, medium or high
        rf"\b(?:can|must|may|should) be\s+{_EITHER}(?:,\s*{_EITHER})+,?\s+or\s+{_EITHER}"
        r"\s*(?:[.;)]|$)",
        # the carrier: dhl, ups or fedex.
        rf":\s*{_EITHER}(?:,\s*{_EITHER})*,?\s+or\s+{_EITHER}\s*[.;)]?$",
        # sort order (newest, oldest)
        r"\b(?:type|kind|status|state|order|direction|mode|format|level|priority|role|unit|size|"
        r"category)"
        rf"\s*[(:]\s*{_BARE}(?:\s*[,/]\s*(?:or\s+)?|\s+or\s+){_BARE}[^.()]*(?:[).]|$)",
    )
)
# What stands between the values of each of these lists.
_SEPARATES = re.compile(r"[,|/]|\b(?:or|and|desc\w*)\b", re.IGNORECASE)
_BARE_LIST = re.compile(r"([a-z0-9_-]+(?:, [a-z0-9_-]+)*),? or ([a-z0-9_-]+)\.?")
_SUCH_AS = re.compile(
    r"\b(?:e\.?g\.?|such as|for example|for instance|like|examples?:?)\W*$", re.IGNORECASE
)
# Words that name a kind of value, not a value.
_KINDS = word_set(
    "id ids name names email emails url urls slug title number code text path date phone username "
    "handle uuid key keys word words part parts null none empty blank string integer"
)


# Many rules ask of the same few names of a tool, one tool after the other.
@lru_cache(maxsize=256)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, lower case: ``deleteScene`` is ``delete``, ``scene``."""
    return tuple(word.lower() for word in _CAMEL.split(name) if word)


def reads(name: str) -> bool:
    """Whether a name begins, or nearly begins, with a verb that only reads."""
    words = words_of(name)
    return bool(words) and words[0] in READING


def unmarks(name: str) -> bool:
    """Whether a name takes back a mark (``unlike``, ``leave``), which can be set again."""
    words = words_of(name)
    return bool(words) and words[0] in _UNMARKS


def effect_in_name(name: str) -> tuple[Effect, str] | None:
    """The effect that a name or title speaks of, and the word that says so."""
    words = words_of(name)
    first = words[0] if words else ""
    if first in READING or first in _UNMARKS:
        return None
    if first in _MAKES and (money := next((w for w in words if w in _MONEY), None)):
        return "spends", money
    if first == "drop" and _DROPPED.intersection(words[1:2]):
        return "destroys", "drop"
    # Past the first word, a verb is one where another came before ("archive_and_delete") or, for
    # what destroys, at the end ("account_delete").
    verbs = [first, *(after for before, after in pairwise(words) if before in ("and", "or"))]
    for verb in (*verbs, *words[-1:]):
        found = _effect(verb)
        if found is None or (verb in ("reset", "discard", "remove") and _VIEW.intersection(words)):
            continue
        if verb in verbs or found == "destroys":
            return found, verb
    return None


def effect_in_description(text: str) -> tuple[Effect, str] | None:
    """The effect that the first sentence of a description speaks of, and its word."""
    sentence = _NEGATION.split(_SENTENCE_END.split(text.strip(), maxsplit=1)[0], maxsplit=1)[0]
    opening = _OPENING.match(sentence)
    if opening is None:
        return None
    first = opening[1].lower()
    for word in (first, (opening[2] or "").lower()):
        found = _effect(word) or _effect(_base(word))
        if found is not None and not (
            set(words_of(sentence)) & _VIEW and word.startswith(("reset", "remove"))
        ):
            return found, word
    if first in READING or _base(first) in READING:
        return None
    for further in _FURTHER.finditer(sentence, opening.end(1)):
        if further[1].lower() in _PLAIN_VERBS:
            return _effect(_base(further[1].lower())) or "destroys", further[1].lower()
    return None


def effect_in_path(path: str, method: str) -> tuple[Effect, str] | None:
    """The effect that the last literal segment of a path speaks of, and the segment."""
    segments = [s for s in path.split("?")[0].split("/") if s and "{" not in s]
    last = segments[-1].lower() if segments else ""
    found = _effect(last)
    if found is not None and (method != "GET" or last in _DESTROYS - {"reset"}):
        return found, last
    return ("spends", last) if method == "POST" and last in _MONEY else None


def destroys_in_path(path: str) -> str | None:
    """A literal segment that is an order to take something away: ``delete-all``, ``purgeCache``.

    ``deleted-items`` and ``delete-requests`` are things.
    """
    segments = [s for s in path.split("?")[0].split("/") if s and "{" not in s]
    if segments and reads(segments[-1]):
        return None
    for segment in segments:
        words = words_of(segment)
        if words and words[0] in ORDERS and words[-1] not in _THINGS:
            return segment
    return None


def destroys_in_query(name: str, text: str) -> str | None:
    """A literal query parameter that is an order to take something away: ``action=delete``."""
    words, said = words_of(name), words_of(text)
    if "{" in text:
        return None
    if words[-1:] and words[-1] in _SAYS_WHAT and said and said[0] in ORDERS:
        return f"{name}={text}"
    is_order = words and words[0] in ORDERS and words[-1] not in _THINGS
    return f"{name}={text}" if is_order and text.lower() in ("1", "true", "yes", "on") else None


def mixed_word(text: str) -> str | None:
    """A word in which Cyrillic or Greek letters pass for Latin ones, or None.

    A text that has a word of those letters alone is in that language, and may mix.
    """
    if text.isascii() or not _LOOKALIKE.search(text):
        return None
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    mixed = [word for word in words if _LATIN.search(word)]
    if len(mixed) < len(words):
        return None
    return next((word for word in mixed if _MIXED.fullmatch(word)), None)


def _effect(word: str) -> Effect | None:
    return next((effect for effect, words in _WORDS if word in words), None)


def _base(word: str) -> str:
    """The plain form of a verb in the third person: ``deletes`` is ``delete``."""
    if word.endswith(("ches", "shes", "sses")):
        return word[:-2]
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        return stem if _effect(stem) else f"{stem}e"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def says_when_not(text: str) -> bool:
    """Whether a description limits itself: when not to use the tool, or what it does not do."""
    return bool(_WHEN_NOT.search(text) or _WHEN_NOT_ELSEWHERE.search(text))


def is_vague(text: str, *names: str) -> bool:
    """Whether a description says nothing beyond the tool's own names.

    A text without spaces between its words (Chinese, Japanese) is measured by its length.
    """
    words = _WORD.findall(text.lower())
    if len(words) < 4 and (text.isascii() or len(text.strip()) < 10):
        return True
    known = _FILLERS.union(*map(words_of, names))
    return known.issuperset(words)


def lists_alternatives(text: str) -> str | None:
    """The part of a description that lists a closed set of values, or None."""
    if not _SEPARATES.search(text):
        return None
    for pattern in _LISTS:
        for found in pattern.finditer(text):
            before = text[max(0, found.start() - 16) : found.start()]
            if not _SUCH_AS.search(before) and not _names_kinds(found[0]):
                return found[0].strip(" :.;)")
    bare = _BARE_LIST.fullmatch(text.strip())
    return None if bare is None or _names_kinds(bare[0]) else bare[0]


def _names_kinds(listed: str) -> bool:
    """Whether a list names kinds of values ("id or name"), which is no closed set."""
    words = [word.lower() for word in _WORD.findall(listed)]
    return bool(_KINDS.intersection(words[-1:] + words[:1]))
