"""The pages, from templates: no script, and every value of a client or a table is escaped."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any

from ..report.page import environment, page_style
from ..report.text import clean
from .case import Case
from .fields import as_value
from .rows import Rows
from .service import Question, Service, as_csv

_SHOWN = 50  # rows of a table of answers
_MOST_CLASSES = 20
_MOST_CELLS = 20_000  # of the forms that ask why
_MOST_LINK = 3_000_000  # bytes of a file that a page holds
_DECISIONS = {
    True: ("balanced", "f1", "mcc", "gmean", "recall>=.9", "precision>=.5"),
    False: ("mean", "median", "grid"),
}


@dataclass(frozen=True, kw_only=True)
class AskedCase:
    """A form as it was sent, and what came of it."""

    values: dict[str, str]
    question: dict[str, str]
    case: Case | None = None
    notes: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class AskedTable:
    """A table as it was sent, and what came of it."""

    question: dict[str, str]
    parts: tuple[Rows, ...] = ()
    frames: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""


class Pages:
    """Renders the pages of a service.

    Parameters
    ----------
    service : Service
    signs_in : whether clients need a token.
    """

    def __init__(self, service: Service, signs_in: bool = False) -> None:
        self.service = service
        self._made = environment(str(__package__))
        self._made.filters.update(clean=clean, cell=_cell, json=_json, coverage=_coverage)
        self._made.globals.update(
            service=service,
            about=service.about,
            limits=service.limits,
            classification=service.is_classification,
            decisions=_DECISIONS[service.is_classification],
            signs_in=signs_in,
        )
        self.style = page_style() + (files(__package__) / "templates" / "serve.css").read_text("utf-8")
        self.icon = (files(__package__) / "templates" / "icon.svg").read_text("utf-8")

    def case(self, asked: AskedCase) -> str:
        """The form for one case, with its answer where it was sent."""
        if asked.case is None:
            return self._page("case.html", asked=asked, fields=self.service.fields)
        most = max((abs(one.weight) for one in asked.case.neighbors), default=0.0)
        probable = sorted(asked.case.answer.get("probabilities", {}).items(), key=lambda pair: -pair[1])
        return self._page(
            "case.html",
            asked=asked,
            fields=self.service.fields,
            most=max(most, 1e-300),
            shown_classes=probable[:_MOST_CLASSES],
        )

    def table(self, asked: AskedTable) -> str:
        """The upload, with the first answers where a table was sent."""
        if not asked.frames:
            return self._page("table.html", asked=asked, shown=(), total=0, columns=(), link="", probabilities=())
        fields = self.service.fields
        shown: list[tuple[Any, Any]] = []
        most = min(_SHOWN, max(_MOST_CELLS // len(fields), 1))
        for part, answers in zip(asked.parts, asked.frames, strict=True):
            few = most - len(shown)
            sent = part.frame.select([field.name for field in fields]).head(few).rows()
            values = [[(f.key, as_value(f, cell)) for f, cell in zip(fields, row, strict=True)] for row in sent]
            shown += zip(answers.head(few).rows(), values, strict=True)
        content = as_csv(asked.frames)
        link = f"data:text/csv;base64,{b64encode(content).decode()}" if len(content) <= _MOST_LINK else ""
        total = sum(frame.height for frame in asked.frames)
        columns = asked.frames[0].columns
        probabilities = [f"probability of {name}" for name in self.service.about.get("classes", ())]
        return self._page(
            "table.html",
            asked=asked,
            shown=shown,
            total=total,
            columns=columns,
            link=link,
            probabilities=probabilities,
        )

    def api(self, schema: dict[str, Any], address: str) -> str:
        """What the API takes and gives, from its OpenAPI description."""
        row = {field.name: _example(field.typical, field.kind) for field in self.service.fields if field.used}
        return self._page("api.html", operations=operations(schema), example={"rows": [row]}, address=address)

    def login(self, error: str = "") -> str:
        """The form that asks for the token; it tells nothing of the model."""
        return self._page("login.html", error=error)

    def error(self, status: int, message: str) -> str:
        """A page that says why a request was refused."""
        return self._page("error.html", status=status, message=message)

    def _page(self, name: str, **values: Any) -> str:
        page: str = self._made.get_template(name).render(here=name, **values)
        return page.encode("utf-8", "replace").decode()


def question_values(question: Question) -> dict[str, str]:
    """A question as a form holds it.

    Examples
    --------
    >>> question_values(Question(costs="20:1"))
    {'decision': '', 'costs': '20:1', 'balance': '', 'coverage': '0.9'}
    """
    balance = "" if question.balance is None else f"{question.balance:g}"
    return {
        "decision": question.decision or "",
        "costs": question.costs or "",
        "balance": balance,
        "coverage": f"{question.coverage:g}",
    }


def _cell(value: Any) -> str:
    """A cell of an answer or of a training row, for a reader."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return "–" if value is None else clean(value)


def _coverage(text: str) -> str:
    """A coverage that a form holds, for a sentence."""
    return f"{100.0 * float(text.replace(',', '.') or Question().coverage):g} %"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _example(typical: str, kind: str) -> Any:
    """A value for the example of a request."""
    if kind != "number" or not typical:
        return typical or None
    value = float(typical)
    return int(value) if value == int(value) else value


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Something that can be asked of the API: fields are name, type, whether it must be there, and meaning."""

    method: str
    path: str
    title: str
    takes: tuple[tuple[str, str, bool, str], ...]
    gives: tuple[tuple[str, str, bool, str], ...]


def operations(schema: dict[str, Any]) -> tuple[Operation, ...]:
    """What an OpenAPI description says, for a page.

    Examples
    --------
    >>> schema = {"paths": {"/a": {"get": {"summary": "A.", "responses": {"200": {}}}}}}
    >>> operations(schema)
    (Operation(method='GET', path='/a', title='A.', takes=(), gives=()),)
    """
    parts = schema.get("components", {}).get("schemas", {})
    found = []
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            found.append(
                Operation(
                    method=method.upper(),
                    path=path,
                    title=one["summary"],
                    takes=_fields(one.get("requestBody", {}), parts),
                    gives=_fields(one["responses"]["200"], parts),
                )
            )
    return tuple(found)


def _fields(body: dict[str, Any], parts: dict[str, Any]) -> tuple[tuple[str, str, bool, str], ...]:
    """Fields of a body, with those of the objects in its lists after them."""
    whole = body.get("content", {}).get("application/json", {}).get("schema", {})
    found: list[tuple[str, str, bool, str]] = []

    def walk(schema: dict[str, Any], before: str) -> None:
        for name, one in schema.get("properties", {}).items():
            required = name in schema.get("required", ())
            found.append((before + name, _type(one, parts), required, one.get("description", "")))
            inner = _resolved(one.get("items", one), parts)
            if inner.get("properties"):
                walk(inner, f"{before}{name}[]." if "items" in one else f"{before}{name}.")

    walk(_resolved(whole, parts), "")
    return tuple(found)


def _resolved(schema: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return dict(parts[name]) if name else schema


def _type(schema: dict[str, Any], parts: dict[str, Any]) -> str:
    """A type in words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one, parts) for one in schema["anyOf"]))
    if schema.get("type") == "array":
        first, *rest = _type(schema.get("items", {}), parts).split(" ", 1)
        return " ".join([f"list of {first}s", *rest])
    kind = str(_resolved(schema, parts).get("type", "value"))
    return {"integer": "whole number", "boolean": "true or false", "string": "text"}.get(kind, kind)
