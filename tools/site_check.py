"""The built site: internal links lead somewhere, pictures have a text, nothing asks a network, it stays small.

python tools/site_check.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_BYTES = 15_000_000


class Page(HTMLParser):
    """Links, anchors, pictures without a text and requests of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.silent: list[str] = []
        self.requests: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
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
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{name}: link to {link}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
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
