"""The page's addresses: all of them below a secret, all answered by this machine for this machine."""

from __future__ import annotations

import io
import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlencode

from repbm.core import InputError, optional
from repbm.logs import write_cells
from repbm.policies.adapters import DecisionTable
from repbm.web._forms import MOST_BYTES, TableForm, fields_of
from repbm.web._session import Answer, Session
from repbm.web._view import individuals_of, page

HERE = ("127.0.0.1", "localhost")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_REPORT = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def application(session: Session, token: str) -> Any:
    optional("starlette", "web")
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route

    def guarded(work: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Nothing without the secret; faults of input in words; headers that keep the page to itself."""

        async def answered(request: Request) -> Response:
            if not secrets.compare_digest(request.path_params["token"].encode(), token.encode()):
                return PlainTextResponse("not found", 404)
            try:
                response = await work(request)
            except InputError as fault:
                response = PlainTextResponse(str(fault), 422)
            for name, value in _HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return answered

    async def look(request: Request) -> Response:
        asked = request.query_params
        answer = _wanted(session, asked.get("of"))
        named = asked.get("edit")
        form = _form(session, answer, named)
        given = {"find": asked.get("find", "")[:100], "compared": asked.getlist("compare")}
        return HTMLResponse(await run_in_threadpool(page, session, answer, form, **given))

    async def ask(request: Request) -> Response:
        fields = fields_of(await _body(request))
        if "policy" in fields:
            policy = session.policies.get(fields["policy"])
            if policy is None:
                raise InputError(f"there is no policy '{fields['policy'][:100]}'")
            form, asked = _form(session, None, fields["policy"]), (fields["policy"], policy)
        else:
            form = TableForm.read(fields)
            if "add" in fields:
                return HTMLResponse(await run_in_threadpool(page, session, None, form.with_row()))
            asked = form.name, None
        try:
            name, policy = asked
            answer = await run_in_threadpool(lambda: session.ask(name, policy or form.table))
        except InputError as fault:
            return HTMLResponse(await run_in_threadpool(page, session, None, form, fault=str(fault)), 422)
        return RedirectResponse(f"/{token}/?{urlencode({'of': answer.number})}", 303)

    async def download(request: Request) -> Response:
        answer = _wanted(session, request.query_params.get("of"))
        if answer is None:
            return PlainTextResponse("not found", 404)
        kind = request.path_params["name"]
        if kind == "rules.csv" and isinstance(answer.policy, DecisionTable):
            content = TableForm.of(answer.policy, answer.name).text.encode()
        elif kind in ("individuals.csv", "estimates.csv"):
            frame = individuals_of(answer) if kind == "individuals.csv" else answer.evaluation.estimates
            written = io.BytesIO()
            write_cells(frame, written)
            content = written.getvalue()
        elif kind == "report.html":
            from repbm.report import report

            full = await run_in_threadpool(lambda: report(session.in_full(answer)).html())
            return HTMLResponse(full, headers={"Content-Security-Policy": _REPORT})
        else:
            return PlainTextResponse("not found", 404)
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(kind)}"}
        return Response(content, media_type="text/csv; charset=utf-8", headers=headers)

    return Starlette(
        routes=[
            Route("/{token}/", guarded(look), methods=["GET"]),
            Route("/{token}/ask", guarded(ask), methods=["POST"]),
            Route("/{token}/{name}", guarded(download), methods=["GET"]),
        ],
        # A page of another site that gives our address its own name is refused.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(HERE))],
    )


async def _body(request: Any) -> bytes:
    """What was sent; no more of it than a form may have."""
    body = b""
    async for block in request.stream():
        body += block
        if len(body) > MOST_BYTES:
            raise InputError("the form is too large", fix="use fewer rules")
    return body


def _wanted(session: Session, number: str | None) -> Answer | None:
    """The answer of this number; the last one where none is named."""
    if number is None:
        return session.answers[-1] if session.answers else None
    return session.answer(int(number)) if number.isascii() and number.isdigit() and len(number) < 9 else None


def _form(session: Session, answer: Answer | None, named: str | None) -> TableForm:
    """The table to edit: of a policy by name, of the answer that is shown, of the first policy that has one."""
    tables = {name: one for name, one in session.policies.items() if isinstance(one, DecisionTable)}
    if named in tables:
        return TableForm.of(tables[named], named)
    if answer is not None and isinstance(answer.policy, DecisionTable):
        return TableForm.of(answer.policy, answer.name)
    for name, table in tables.items():
        return TableForm.of(table, name)
    return TableForm.of(session.blank(), "new")
