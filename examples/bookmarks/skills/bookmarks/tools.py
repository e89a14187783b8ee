"""The tools of the skill bookmarks; their handlers are in ``api/handlers.py``."""

from api.inputs import SaveBookmark, SearchBookmarks, ShowDashboard
from remit.kit import AppTarget, Tool

tools = [
    Tool(
        "save_bookmark",
        display_name="Save bookmark",
        description=(
            "Saves the address of one page for the user, with a title and tags. An address that is "
            "there already gets the new tags. Not for reading a page, and not for many at once "
            "from the mailbox; use import_from_mail for those."
        ),
        input=SaveBookmark,
        target=AppTarget("api", "/tools/save-bookmark", "POST", body="${input}"),
        category="write",
        danger_level="safe",
        idempotent=True,
    ),
    Tool(
        "search_bookmarks",
        display_name="Search bookmarks",
        description=(
            "Finds the user's own bookmarks by words in title, address and tags, the newest "
            "first. Not for searching the web, and not for numbers; use show_dashboard for those."
        ),
        input=SearchBookmarks,
        target=AppTarget("api", "/tools/search-bookmarks", "POST", body="${input}"),
        category="read",
        danger_level="safe",
    ),
    Tool(
        "show_dashboard",
        display_name="Show dashboard",
        description=(
            "Shows the user a chart of what they saved, by week and by tag, and gives its numbers. "
            "Not for finding one bookmark; use search_bookmarks."
        ),
        input=ShowDashboard,
        target=AppTarget("api", "/tools/show-dashboard", "POST", body="${input}"),
        category="read",
        danger_level="safe",
    ),
]
