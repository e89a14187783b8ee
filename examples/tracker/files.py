"""The built files of the page, and its one document at every address of the app."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

_NOT_BUILT = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Tracker</title>'
    '<body style="font: 16px/24px system-ui; max-width: 70ch; margin: 48px auto; padding: 0 16px">'
    "<h1>The page is not built yet</h1><p>Run <code>npm run build</code> in the folder of the "
    "tracker, then load this page again.</p>"
)


class Files:
    """Serves what Vite has built.

    Args:
        dist: the folder with it.
        remit_url: the one other origin that the page may speak to, or an empty text.
    """

    def __init__(self, dist: Path, *, remit_url: str) -> None:
        self._document = dist / "index.html"
        self._headers = {
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self'; "
                f"img-src 'self' data:; connect-src 'self' {remit_url}".rstrip()
                + "; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
            ),
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            # Asked for each time, because it names files that change with each build.
            "Cache-Control": "no-cache",
        }
        self.routes = (
            Mount("/assets", StaticFiles(directory=dist / "assets", check_dir=False)),
            Route("/{path:path}", self._page, methods=["GET"]),
        )

    async def _page(self, request: Request) -> Response:
        path = str(request.path_params["path"])
        if path.startswith(("api/", "agent/")) or "." in path.rpartition("/")[2]:
            raise HTTPException(404)
        if not self._document.is_file():
            return HTMLResponse(_NOT_BUILT, 503, headers={"Cache-Control": "no-store"})
        return FileResponse(self._document, headers=self._headers)
