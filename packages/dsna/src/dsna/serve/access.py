"""Access control: host names, cross-site requests, tokens."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

from .._utils.errors import DSNAError

COOKIE = "dsna_session"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::", "")
_DEFAULT_PORT = 80  # addresses omit it
_MIN_TOKEN_LENGTH = 16


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    address = host.strip("[]")
    return address == "localhost" or (_is_address(address) and ipaddress.ip_address(address).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def new_token() -> str:
    """A random token.

    Examples
    --------
    >>> len(new_token()) >= 32
    True
    """
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, kw_only=True)
class Access:
    """Access rules of a server.

    Parameters
    ----------
    host, port : the address to listen on.
    names : further host names of the server, with or without a port.
    token : token that clients must send; None only for addresses of this machine.

    Examples
    --------
    >>> access = Access(host="127.0.0.1", port=8000)
    >>> access.is_own_host("localhost:8000"), access.is_own_host("evil.example:8000")
    (True, False)
    """

    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()
    token: str | None = None
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise DSNAError(
                f"--host {self.host}: other machines reach this address, so a token is needed. Remedy: --token auto "
                "makes one, or put one into the environment variable DSNA_TOKEN."
            )
        if self.token is not None and (len(self.token) < _MIN_TOKEN_LENGTH or not self.token.isascii()):
            raise DSNAError(
                f"the token must have {_MIN_TOKEN_LENGTH} or more ASCII characters. Remedy: --token auto makes one."
            )

    @property
    def is_everywhere(self) -> bool:
        """Whether the server listens on all addresses of the machine."""
        return self.host in _EVERYWHERE

    def is_own_host(self, header: str) -> bool:
        """Whether a Host header names this server; other names may come from DNS rebinding by another site."""
        host = header.lower()
        extra_names = {name.lower() for name in self.names}
        own_names = {*LOOPBACK, _bracketed(self.host or LOOPBACK[0])}
        if self.is_everywhere:
            own_names.add(socket.gethostname().lower())
        if host in extra_names or host in {f"{name}:{self.port}" for name in own_names | extra_names}:
            return True
        if self.port == _DEFAULT_PORT and host in own_names:
            return True
        # An IP address needs no DNS, so that it cannot be rebound.
        address, _, port = host.rpartition(":")
        return self.is_everywhere and port == str(self.port) and _is_address(address.strip("[]"))

    def is_foreign(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from a page of another site, according to the browser's headers."""
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return True
        origin = headers.get("origin")
        return origin is not None and origin.lower() not in {
            f"{s}://{headers.get('host', '').lower()}" for s in _SCHEMES
        }

    def is_authorized(self, headers: Mapping[str, str]) -> bool:
        """Whether a request carries the token or a session cookie."""
        if self.token is None:
            return True
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.is_token(token.strip()):
            return True
        cookies = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
        session = self.session().encode()
        return any(name == COOKIE and hmac.compare_digest(value.encode(), session) for name, _, value in cookies)

    def is_token(self, token: str) -> bool:
        """Compare with the token in constant time."""
        return self.token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    def session(self) -> str:
        """Value of the session cookie: valid while this server runs; it does not reveal the token."""
        return hmac.new(self._secret, (self.token or "").encode(), "sha256").hexdigest()

    def address(self) -> str:
        """URL of the server, for people."""
        host = LOOPBACK[0] if self.is_everywhere else _bracketed(self.host)
        return f"http://{host}:{self.port}/"


_SCHEMES = ("http", "https")


def _bracketed(host: str) -> str:
    """A host as URLs write it, with IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()
