"""Routes of the server: thin functions from requests to the service and its pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException

from .. import __version__
from .._utils.errors import DSNAError
from ..report.text import clean
from . import schemas
from .access import COOKIE, Access
from .guard import PAUSE, Guard, login_for
from .limits import Limits, Refused
from .pages import CaseForm, Pages, TableForm, question_fields
from .rows import parse_objects
from .service import Question, Service, TableOptions, as_csv
from .uploads import Form, read_form

_NEIGHBORS = 6
_EXTRA_FIELDS = 50  # of a form, besides the columns
_LOGIN_FIELDS = 10
_MAX_LENGTH = 2_000  # characters of a message or an option
_T = TypeVar("_T")


def create_app(service: Service, access: Access | None = None) -> Guard:
    """Build the ASGI application that serves a model, wrapped in its guard.

    Parameters
    ----------
    service : service that answers requests.
    access : access rules; None allows this machine only.

    Returns
    -------
    Guard
    """
    access = access or Access()
    server = _Server(service, access)
    return Guard(server.app, access, service.limits, server.refusal)


class _Server:
    """Routes of the application, and the threads that answer."""

    def __init__(self, service: Service, access: Access) -> None:
        self.service, self.access = service, access
        self.pages = Pages(service, access.token is not None)
        self._threads = ThreadPoolExecutor(service.limits.threads, thread_name_prefix="dsna")
        self.app = FastAPI(
            title="dsna serve",
            version=__version__,
            docs_url=None,
            redoc_url=None,
            lifespan=self._lifespan,
            exception_handlers={
                DSNAError: self._refused,
                HTTPException: self._http,
                RequestValidationError: self._invalid,
                Exception: self._failed,
            },
        )
        self._add_pages()
        self._add_api()

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        yield
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _work(self, function: Callable[..., _T], *arguments: Any, **keywords: Any) -> _T:
        """Run a function in the thread pool."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, partial(function, *arguments, **keywords)
        )

    async def _form(self, request: Request) -> Form:
        max_fields = len(self.service.fields) + _EXTRA_FIELDS
        return await self._work(read_form, request.headers.get("content-type", ""), await request.body(), max_fields)

    # Pages

    def _add_pages(self) -> None:
        add = partial(self.app.add_api_route, include_in_schema=False, response_model=None)
        add("/", self._get_case, methods=["GET"])
        add("/", self._post_case, methods=["POST"])
        add("/table", self._get_table, methods=["GET"])
        add("/table", self._post_table, methods=["POST"])
        add("/table.csv", self._post_csv, methods=["POST"])
        add("/api", self._get_api, methods=["GET"])
        add("/login", self._get_login, methods=["GET"])
        add("/login", self._post_login, methods=["POST"])
        add("/style.css", self._get_style, methods=["GET"])
        add("/icon.svg", self._get_icon, methods=["GET"])

    async def _get_case(self, request: Request) -> Response:
        typical = request.query_params.get("fill") == "typical"
        values = {field.key: field.typical for field in self.service.fields} if typical else {}
        return HTMLResponse(self.pages.case(CaseForm(values=values, question=question_fields(Question()))))

    async def _post_case(self, request: Request) -> Response:
        form = await self._form(request)
        try:
            question = _question(form.values)
            pause = request.scope[PAUSE]
            case, notes = await self._work(self.service.case_of_form, form.values, question, _NEIGHBORS, pause)
        except DSNAError as error:
            case_form = CaseForm(values=form.values, question=_sent(form.values), error=_sentence(error))
            return HTMLResponse(self.pages.case(case_form), _status(error))
        case_form = CaseForm(values=form.values, question=_sent(form.values), case=case, notes=tuple(notes))
        return HTMLResponse(await self._work(self.pages.case, case_form))

    async def _get_table(self) -> Response:
        return HTMLResponse(self.pages.table(TableForm(question=question_fields(Question()))))

    async def _answer_table(self, request: Request, form: Form) -> tuple[Any, Any, list[str]]:
        options = TableOptions(repeat="repeat" in form.values, explain="explain" in form.values)
        tabs = form.names.get("file", "").lower().endswith((".tsv", ".tab"))
        content = form.files.get("file", b"")
        question = _question(form.values)
        return await self._work(self.service.table, content, question, options, request.scope[PAUSE], tabs=tabs)

    async def _post_table(self, request: Request) -> Response:
        form = Form()
        try:
            form = await self._form(request)
            tables, frames, notes = await self._answer_table(request, form)
        except DSNAError as error:
            table_form = TableForm(question=_sent(form.values), error=_sentence(error))
            return HTMLResponse(self.pages.table(table_form), _status(error))
        sent = _sent(form.values)
        table_form = TableForm(question=sent, tables=tuple(tables), frames=tuple(frames), notes=tuple(notes))
        return HTMLResponse(await self._work(self.pages.table, table_form))

    async def _post_csv(self, request: Request) -> Response:
        _, frames, _ = await self._answer_table(request, await self._form(request))
        content = await self._work(as_csv, frames)
        return Response(
            content,
            media_type="text/csv; charset=utf-8",
            headers={"content-disposition": 'attachment; filename="answers.csv"'},
        )

    async def _get_api(self) -> Response:
        return HTMLResponse(self.pages.api(self.app.openapi(), self.access.address()))

    async def _get_login(self) -> Response:
        return RedirectResponse("/", 303) if self.access.token is None else HTMLResponse(self.pages.login())

    async def _post_login(self, request: Request) -> Response:
        # The guard ensures a small urlencoded body, so that it is parsed here and not in the thread pool.
        form = read_form(request.headers.get("content-type", ""), await request.body(), _LOGIN_FIELDS)
        if not self.access.is_token(form.values.get("token", "").strip()):
            return HTMLResponse(self.pages.login("Wrong token. Ask whoever started the server."), 401)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, self.access.session(), httponly=True, samesite="strict", path="/")
        return answer

    async def _get_style(self) -> Response:
        return Response(self.pages.style, media_type="text/css")

    async def _get_icon(self) -> Response:
        return Response(self.pages.icon, media_type="image/svg+xml")

    # API

    def _add_api(self) -> None:
        classification = self.service.is_classification
        errors: dict[int | str, dict[str, Any]] = {
            "4XX": {"model": schemas.ErrorAnswer, "description": "The request was refused."}
        }
        add = partial(self.app.add_api_route, responses=errors, response_model_exclude_unset=True)
        add("/api/model", self._api_model, response_model=schemas.ModelAnswer, summary="Description of the model.")
        add(
            "/api/predict",
            self._api_predict,
            methods=["POST"],
            response_model=schemas.ClassAnswers if classification else schemas.TargetAnswers,
            summary="Predictions for rows.",
        )
        add(
            "/api/explain",
            self._api_explain,
            methods=["POST"],
            response_model=schemas.ExplainedClasses if classification else schemas.ExplainedTargets,
            summary="Predictions for rows, with the training rows behind each.",
        )

    async def _api_model(self) -> Any:
        limits: Limits = self.service.limits
        bounds = {"bytes": limits.bytes, "rows": limits.rows, "explained": limits.explained, "seconds": limits.seconds}
        return {**self.service.about, "limits": bounds}

    async def _api_predict(self, request: Request, payload: schemas.PredictRequest) -> Any:
        service, pause = self.service, request.scope[PAUSE]

        def answer() -> dict[str, Any]:
            rows = parse_objects(service.fields, payload.rows, service.limits)
            answers = service.answers(rows, payload.question(), pause)
            return {"answers": answers, "notes": list(dict.fromkeys(rows.notes))}

        return await self._work(answer)

    async def _api_explain(self, request: Request, payload: schemas.ExplainRequest) -> Any:
        service, pause = self.service, request.scope[PAUSE]

        def answer() -> dict[str, Any]:
            rows = parse_objects(service.fields, payload.rows, service.limits)
            cases = service.cases(rows, payload.question(), payload.largest, pause)
            return {"answers": [case.as_json() for case in cases], "notes": list(dict.fromkeys(rows.notes))}

        return await self._work(answer)

    # Errors

    def refusal(self, scope: Any, error: Refused) -> Any:
        """Response to a refused request: a page for browsers, JSON for programs."""
        headers = {"retry-after": "2"} if error.status == 503 else {}
        if error.status == 401:
            headers["www-authenticate"] = "Bearer"
        accepted = next((value for name, value in scope["headers"] if name == b"accept"), b"")
        if b"text/html" not in accepted or scope["path"].startswith("/api/"):
            return JSONResponse({"error": _sentence(error)}, error.status, headers)
        login = login_for(scope, error)
        if login is not None:
            return RedirectResponse(login, 303)
        return HTMLResponse(self.pages.error(error.status, _sentence(error)), error.status, headers)

    async def _refused(self, request: Request, error: Exception) -> Response:
        answer: Response = self.refusal(request.scope, Refused(_sentence(error), _status(error)))
        return answer

    async def _http(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        messages = {404: "there is no such page.", 405: "this address does not support that method.", 400: _UNREADABLE}
        message = messages.get(error.status_code, str(error.detail))
        answer: Response = self.refusal(request.scope, Refused(message, error.status_code))
        return answer

    async def _invalid(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        if first["type"].startswith("json"):
            message = _UNREADABLE
        else:
            field = ".".join(str(key) for key in first["loc"] if key != "body")
            message = f"{field or 'the request'}: {first['msg']}. Remedy: see /api."
        answer: Response = self.refusal(request.scope, Refused(message, 422))
        return answer

    async def _failed(self, request: Request, _: Exception) -> Response:
        message = "internal server error; details are printed where the server runs."
        answer: Response = self.refusal(request.scope, Refused(message, 500))
        return answer


_UNREADABLE = "the request is not valid JSON. Remedy: check it, and send it as application/json."


def _sent(values: dict[str, str]) -> dict[str, str]:
    """The decision fields of a form, as they were sent."""
    defaults = question_fields(Question())
    return {name: values.get(name, default) for name, default in defaults.items()}


def _question(values: dict[str, str]) -> Question:
    """Parse the decision fields of a form."""
    fields = {name: value.strip() for name, value in _sent(values).items()}
    if any(len(value) > _MAX_LENGTH for value in fields.values()):
        raise Refused("the decision or the costs are too long. Remedy: see `dsna predict --help`.")
    return Question(
        decision=fields["decision"] or None,
        costs=fields["costs"] or None,
        balance=_number(fields["balance"], "balance"),
        coverage=_number(fields["coverage"], "coverage") or Question().coverage,
    )


def _number(text: str, name: str) -> float | None:
    try:
        return float(text.replace(",", ".")) if text else None
    except ValueError:
        raise Refused(f"{name} is not a number. Remedy: write a number such as 0.9.") from None


def _sentence(error: Exception) -> str:
    """An error message of bounded length, safe to show on a page."""
    return clean(str(error), _MAX_LENGTH)


def _status(error: Exception) -> int:
    return error.status if isinstance(error, Refused) else 422
