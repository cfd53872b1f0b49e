"""HTML pages from templates, without scripts; all values from clients and tables are escaped."""

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
from .rows import TypedRows
from .service import Question, Service, as_csv

_PREVIEW_ROWS = 50  # rows of a table of answers
_MAX_CLASSES = 20
_MAX_CELLS = 20_000  # in the hidden forms of the "Why?" buttons
_MAX_LINK_BYTES = 3_000_000  # of a file embedded in a page
_DECISIONS = {
    True: ("balanced", "f1", "mcc", "gmean", "recall>=.9", "precision>=.5"),
    False: ("mean", "median", "grid"),
}


@dataclass(frozen=True, kw_only=True)
class CaseForm:
    """A submitted form for one case, with its answer or error."""

    values: dict[str, str]
    question: dict[str, str]
    case: Case | None = None
    notes: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class TableForm:
    """A submitted table, with its answers or error."""

    question: dict[str, str]
    tables: tuple[TypedRows, ...] = ()
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
        self._templates = environment(str(__package__))
        self._templates.filters.update(clean=clean, cell=_cell, json=_json, coverage=_coverage)
        self._templates.globals.update(
            service=service,
            about=service.about,
            limits=service.limits,
            classification=service.is_classification,
            decisions=_DECISIONS[service.is_classification],
            signs_in=signs_in,
        )
        self.style = page_style() + (files(__package__) / "templates" / "serve.css").read_text("utf-8")
        self.icon = (files(__package__) / "templates" / "icon.svg").read_text("utf-8")

    def case(self, form: CaseForm) -> str:
        """The form for one case, with the answer if it was submitted."""
        if form.case is None:
            return self._page("case.html", form=form, fields=self.service.fields)
        max_weight = max((abs(neighbor.weight) for neighbor in form.case.neighbors), default=0.0)
        probable = sorted(form.case.answer.get("probabilities", {}).items(), key=lambda pair: -pair[1])
        return self._page(
            "case.html",
            form=form,
            fields=self.service.fields,
            max_weight=max(max_weight, 1e-300),
            shown_classes=probable[:_MAX_CLASSES],
        )

    def table(self, form: TableForm) -> str:
        """The upload form, with the first answers if a table was submitted."""
        if not form.frames:
            return self._page("table.html", form=form, preview=(), total=0, columns=(), link="", probabilities=())
        fields = self.service.fields
        preview: list[tuple[Any, Any]] = []
        max_preview = min(_PREVIEW_ROWS, max(_MAX_CELLS // len(fields), 1))
        for table, answers in zip(form.tables, form.frames, strict=True):
            n_missing = max_preview - len(preview)
            cells = table.frame.select([field.name for field in fields]).head(n_missing).rows()
            values = [[(f.key, as_value(f, cell)) for f, cell in zip(fields, row, strict=True)] for row in cells]
            preview += zip(answers.head(n_missing).rows(), values, strict=True)
        content = as_csv(form.frames)
        link = f"data:text/csv;base64,{b64encode(content).decode()}" if len(content) <= _MAX_LINK_BYTES else ""
        total = sum(frame.height for frame in form.frames)
        columns = form.frames[0].columns
        probabilities = [f"probability of {name}" for name in self.service.about.get("classes", ())]
        return self._page(
            "table.html",
            form=form,
            preview=preview,
            total=total,
            columns=columns,
            link=link,
            probabilities=probabilities,
        )

    def api(self, schema: dict[str, Any], address: str) -> str:
        """The description of the API, from its OpenAPI schema."""
        row = {field.name: _example(field.typical, field.kind) for field in self.service.fields if field.used}
        return self._page("api.html", operations=operations(schema), example={"rows": [row]}, address=address)

    def login(self, error: str = "") -> str:
        """The login form; it reveals nothing about the model."""
        return self._page("login.html", error=error)

    def error(self, status: int, message: str) -> str:
        """The page for a refused request."""
        return self._page("error.html", status=status, message=message)

    def _page(self, name: str, **values: Any) -> str:
        page: str = self._templates.get_template(name).render(template=name, **values)
        return page.encode("utf-8", "replace").decode()


def question_fields(question: Question) -> dict[str, str]:
    """Convert a question to values of form fields.

    Examples
    --------
    >>> question_fields(Question(costs="20:1"))
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
    """Format a cell of an answer or a training row."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return "–" if value is None else clean(value)


def _coverage(text: str) -> str:
    """Format the coverage from a form as a percentage."""
    return f"{100.0 * float(text.replace(',', '.') or Question().coverage):g} %"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _example(typical: str, kind: str) -> Any:
    """A value for the example request."""
    if kind != "number" or not typical:
        return typical or None
    value = float(typical)
    return int(value) if value == int(value) else value


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation of the API; fields are (name, type, whether required, description)."""

    method: str
    path: str
    title: str
    takes: tuple[tuple[str, str, bool, str], ...]
    gives: tuple[tuple[str, str, bool, str], ...]


def operations(schema: dict[str, Any]) -> tuple[Operation, ...]:
    """Operations in an OpenAPI schema.

    Examples
    --------
    >>> schema = {"paths": {"/a": {"get": {"summary": "A.", "responses": {"200": {}}}}}}
    >>> operations(schema)
    (Operation(method='GET', path='/a', title='A.', takes=(), gives=()),)
    """
    definitions = schema.get("components", {}).get("schemas", {})
    result = []
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            result.append(
                Operation(
                    method=method.upper(),
                    path=path,
                    title=operation["summary"],
                    takes=_fields(operation.get("requestBody", {}), definitions),
                    gives=_fields(operation["responses"]["200"], definitions),
                )
            )
    return tuple(result)


def _fields(body: dict[str, Any], definitions: dict[str, Any]) -> tuple[tuple[str, str, bool, str], ...]:
    """Fields of a body, each followed by the fields of nested objects."""
    root = body.get("content", {}).get("application/json", {}).get("schema", {})
    fields: list[tuple[str, str, bool, str]] = []

    def walk(schema: dict[str, Any], prefix: str) -> None:
        for name, field in schema.get("properties", {}).items():
            required = name in schema.get("required", ())
            fields.append((prefix + name, _type(field, definitions), required, field.get("description", "")))
            inner = _resolved(field.get("items", field), definitions)
            if inner.get("properties"):
                walk(inner, f"{prefix}{name}[]." if "items" in field else f"{prefix}{name}.")

    walk(_resolved(root, definitions), "")
    return tuple(fields)


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return dict(definitions[name]) if name else schema


def _type(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Describe a type in words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(option, definitions) for option in schema["anyOf"]))
    if schema.get("type") == "array":
        first, *qualifiers = _type(schema.get("items", {}), definitions).split(" ", 1)
        return " ".join([f"list of {first}s", *qualifiers])
    kind = str(_resolved(schema, definitions).get("type", "value"))
    return {"integer": "whole number", "boolean": "true or false", "string": "text"}.get(kind, kind)
