"""Who may use the server: the page it gave out, in a browser of who started it, and nobody else.

Other users of the machine, and pages of other sites in the same browser, reach 127.0.0.1 too.
Against the first there is a token, in the address that is printed, which becomes a cookie; against
the others the cookie is of this site alone (``SameSite=Strict``), and the names that a request was
made to (``Host``, against DNS rebinding) and made from (``Origin``) must be this server's own.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Everything comes from this server; pictures are also made by the page itself.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING = ("GET", "HEAD")


class Guard:
    """Lets through what comes from the page, and puts the headers of a strict page on answers.

    Parameters
    ----------
    app
        What to guard.
    port
        Where the server listens; part of its name and of the cookie's, as ports share cookies.
    token
        The secret.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._cookie = f"partdino_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        enters = self._enters(scope)
        reason = self._refusal(scope["method"], headers, enters)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = MutableHeaders(scope=message)
                ours.update(_HEADERS)
                ours.setdefault("Cache-Control", "no-store")
                if enters and reason is None:
                    ours.append("Set-Cookie", self._set_cookie())
            await send(message)

        app = self._app if reason is None else PlainTextResponse(reason, 403)
        await app(scope, receive, send_with_headers)

    def _refusal(self, method: str, headers: Headers, enters: bool) -> str | None:
        """Say why a request is refused, None where it is not."""
        if headers.get("host") not in self._hosts:
            return "this server has another name"
        origin = headers.get("origin")
        # Browsers send an Origin with whatever is no mere reading.
        if origin != f"http://{headers['host']}" and (origin or method not in _READING):
            return "this page is of another site"
        if not enters and not self._known(headers.get("cookie", "")):
            return "open the address that `partdino review` has printed"
        return None

    def _enters(self, scope: Scope) -> bool:
        """Whether a request is for the address that was printed."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return scope["path"] == "/" and scope["method"] == "GET" and self._is_token(given)

    def _known(self, cookies: str) -> bool:
        try:
            cookie = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())

    def _set_cookie(self) -> str:
        return f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
