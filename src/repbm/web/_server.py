"""The server: on this machine, for this machine."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

from repbm.core import InputError, optional
from repbm.web._application import HERE, application
from repbm.web._session import Session


def serve(session: Session, port: int, ready: Callable[[str], None]) -> None:
    uvicorn = optional("uvicorn", "web")
    token = secrets.token_urlsafe(24)
    app = application(session, token)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            own.bind((HERE[0], port))
        except OSError as fault:
            raise InputError(f"port {port} cannot be used ({fault.strerror})", fix="give another --port") from fault
        # Whoever is told the address may knock at once.
        own.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, server_header=False))
        ready(f"http://{HERE[0]}:{own.getsockname()[1]}/{token}/")
        server.run(sockets=[own])
