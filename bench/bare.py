"""The bare proxy: Starlette, uvicorn and aiohttp, and no logic. Arguments: its port, the app's URL.

JSON comes in, goes to the app, and the app's JSON is parsed and answered.
"""

from __future__ import annotations

import sys

import aiohttp
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_PORT, _URL = int(sys.argv[1]), f"{sys.argv[2]}/orders/4711/pay"
_JSON = {"content-type": "application/json"}


class _Proxy:
    """Forwards through one client session, made at the first call."""

    session: aiohttp.ClientSession | None = None

    async def call(self, request: Request) -> Response:
        """Forward one call."""
        if self.session is None:
            self.session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=30),
            )
        args = msgspec.json.decode(await request.body())
        sent = msgspec.json.encode(args)
        async with self.session.post(
            _URL, data=sent, headers=_JSON, allow_redirects=False
        ) as reply:
            found = msgspec.json.decode(await reply.read())
        return Response(msgspec.json.encode(found), media_type="application/json")


if __name__ == "__main__":
    uvicorn.run(
        Starlette(routes=[Route("/call", _Proxy().call, methods=["POST"])]),
        host="127.0.0.1",
        port=_PORT,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        log_level="warning",
    )
