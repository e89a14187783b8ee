"""``remit explain``: a page for every error code and lint rule."""

from __future__ import annotations

from remit.errors import WrongUse
from remit.main.output import print_text
from remit.main.pages import ids, page
from remit.values.json import nearest

# Codes of one word: all others have an underscore, and no rule has.
_SINGLE_WORDS = ("cancelled", "denied", "expired", "forbidden", "skipped", "unauthorized")


def listed() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The codes and the rules that have a page."""
    known = ids()
    codes = tuple(name for name in known if "_" in name or name in _SINGLE_WORDS)
    return codes, tuple(name for name in known if name not in codes)


def run(code: str | None) -> int:
    """Print one page, or the list of all codes where none is named."""
    if code is None:
        codes, rules = listed()
        print_text("Error codes\n" + "\n".join(f"  {name}" for name in codes))
        print_text("\nRules of remit lint\n" + "\n".join(f"  {name}" for name in rules))
        print_text("\nNext: remit explain CODE")
        return 0
    text = page(code.strip())
    if text is None:
        near = nearest(code, ids())
        hint = f'Did you mean "{near}"?' if near else "`remit explain` lists them all."
        raise WrongUse(f'There is no code "{code}". {hint}')
    print_text(text.rstrip())
    return 0
