"""Parameters and attributes: what is documented together is printed together, and types link to classes alone."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import desc_content, literal_strong
from sphinx.domains.python import PythonDomain

_SECTION = re.compile(r"(?:Parameters|Attributes)\n-+$")
_ENTRY = re.compile(r"\n(?=\S)")


class Domain(PythonDomain):
    """Sphinx looks for attributes called as a word of a type, too: "array of shape" would link to a ``shape``."""

    def find_obj(
        self, env: Any, modname: str, classname: str, name: str, type: str | None, searchmode: int = 0
    ) -> list[Any]:
        if type == "attr" and searchmode:
            return []
        return super().find_obj(env, modname, classname, name, type, searchmode)


def rewritten(entry: str, attribute: bool) -> list[str]:
    """One entry of a docstring's section as napoleon reads it right.

    A sentence after the colon is a description and no type. Attributes come one by one, with the underscores at their
    ends, which napoleon takes for links.
    """
    head, *about = entry.split("\n")
    if attribute:
        head = re.sub(r"_(?!\w)", r"\\_", head)
    names, colon, kind = head.partition(" : ")
    if kind.endswith(".") or (about and re.match(r"\s*[a-z]{2}", about[0])):
        about = [f"    {kind}", *about]
        colon = kind = ""
    return [line for name in (names.split(", ") if attribute else [names]) for line in (name + colon + kind, *about)]


def _rewrite(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    for start in [i + 2 for i in range(len(lines) - 1) if _SECTION.match("\n".join(lines[i : i + 2]))][::-1]:
        end = next((i for i in range(start, len(lines) - 1) if lines[i + 1] and set(lines[i + 1]) == {"-"}), len(lines))
        entries = _ENTRY.split("\n".join(lines[start:end]).rstrip())
        attribute = lines[start - 2] == "Attributes"
        lines[start:end] = [*(line for entry in entries for line in rewritten(entry, attribute)), ""]


def _join(app: Any, doctree: nodes.document) -> None:
    """Names with the same type and text, which napoleon has taken apart, become one entry."""
    for field in [one for content in doctree.findall(desc_content) for one in content.findall(nodes.field)]:
        label, body = field
        if label.astext() == "Variables":
            label.children = [nodes.Text("Attributes")]
        for dash in [one for one in body.findall(nodes.Text) if one == " -- "]:
            dash.parent.replace(dash, nodes.Text(": "))
        for entries in body.findall(nodes.bullet_list):
            for entry in entries.children[:0:-1]:
                earlier = entries[entries.index(entry) - 1]
                names, about = _parts(entry)
                if about and about == _parts(earlier)[1]:
                    earlier[0].insert(1, [nodes.Text(", "), *names])
                    entries.remove(entry)


def _parts(entry: Any) -> tuple[list[Any], str]:
    """The names of an entry, with what stands between them, and the text after them."""
    children = entry[0].children
    length = next(
        (i for i, one in enumerate(children) if not isinstance(one, literal_strong) and one != ", "), len(children)
    )
    return children[:length], "".join(one.astext() for one in children[length:])


def setup(app: Any) -> dict[str, bool]:
    app.add_domain(Domain, override=True)
    app.connect("autodoc-process-docstring", _rewrite, priority=400)  # before napoleon
    app.connect("doctree-read", _join)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
