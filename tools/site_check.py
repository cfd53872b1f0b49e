"""The built site: links lead somewhere, pictures have a text, attributes can be told apart, no network is asked.

python tools/site_check.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_BYTES = 15_000_000


class Page(HTMLParser):
    """Links, anchors, pictures without a text, requests, attributes and repeated descriptions of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.silent: list[str] = []
        self.requests: list[str] = []
        self.attributes: set[str] = set()
        self.type_links: list[str] = []
        self.repeated: list[str] = []
        self._open: list[
            tuple[str, str]
        ] = []  # tags around the text, each with its class, or with the target of a link
        self._entry = self._last_entry = ""  # of a list of parameters or attributes, without its names

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self._follow(tag, given)
        self.anchors |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        thumbnail = given.get("src", "").endswith("_thumb.png")  # beside its own title
        if tag == "img" and not thumbnail and not given.get("alt", "").strip():
            self.silent.append(given.get("src", ""))
        loaded = (
            given.get("src") if tag in ("img", "script", "iframe") else given.get("href") if tag == "link" else None
        )
        if loaded and urlsplit(loaded).netloc:
            self.requests.append(loaded)

    def _follow(self, tag: str, given: dict[str, str]) -> None:
        around, of = self._open[-1] if self._open else ("", "")
        if tag == "dt" and around == "dl" and {"attribute", "property"} & set(of.split()):
            self.attributes.add(given.get("id", ""))
        if tag == "em" and around == "a":
            self.type_links.append(of)
        if tag == "ul":
            self._last_entry = ""
        if tag == "li":
            self._entry = ""
        if tag in ("dl", "dd", "ul", "li", "strong", "em", "a"):
            self._open.append((tag, given.get("href" if tag == "a" else "class", "")))

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][0] != "strong":
            self._entry += data

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1][0] != tag:
            return
        self._open.pop()
        entry = " ".join(self._entry.strip(", \n").split())
        if tag == "li" and any(tag == "dl" and "field-list" in of for tag, of in self._open):
            if entry and entry == self._last_entry:
                self.repeated.append(entry)
            self._last_entry = entry


def _target(page: Path, link: str) -> tuple[Path, str]:
    """The file that a link of a page leads to, and the anchor in it."""
    parts = urlsplit(link)
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)


def problems(site: Path) -> list[str]:
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = page = Page()
        page.feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name}: a picture without alt text: {one}" for one in page.silent]
        found += [f"{name}: asks the network for {one}" for one in page.requests]
        found += [f"{name}: two entries of a list say the same: {one}" for one in page.repeated]
        for link in page.type_links:
            target, place = _target(path, link)
            if target in pages and place in pages[target].attributes:
                found.append(f"{name}: a word of a type links to the attribute {place}")
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target, place = _target(path, link)
            if not target.exists():
                found.append(f"{name}: link to {link}, which is not there")
            elif place and target in pages and place not in pages[target].anchors:
                found.append(f"{name}: link to {link}, which has no such place")
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        found.append(f"the site has {size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f}")
    print(f"{len(pages)} pages, {size / 1e6:.1f} MB")
    return found


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    print("\n".join(wrong))
    sys.exit(int(bool(wrong)))
