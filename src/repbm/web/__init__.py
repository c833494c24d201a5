"""A page to work with: policies are changed and answered while one looks on. It needs `repbm[web]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repbm.web._session import Answer, Session

if TYPE_CHECKING:
    from collections.abc import Callable


def application(session: Session, token: str) -> Any:
    """The page as an ASGI application, below `/token/`; whoever does not know the token sees nothing."""
    from repbm.web._application import application

    return application(session, token)


def serve(session: Session, port: int = 0, ready: Callable[[str], None] = lambda address: None) -> None:
    """Serve the page to this machine until it is stopped; `ready` is told its address, which holds a secret."""
    from repbm.web._server import serve

    serve(session, port, ready)


__all__ = ["Answer", "Session", "application", "serve"]
