"""Which addresses are asked, and how we introduce ourselves."""

from __future__ import annotations

import re
import urllib.parse

from graph_service import __version__
from graph_service.errors import InputError

_WIKIMEDIA = re.compile(
    r"(?:^|\.)(?:wikidata|wikimedia|wikipedia|mediawiki|wmflabs|wmcloud|toolforge)\.org$"
)
_LOCAL = re.compile(r"localhost|127(?:\.\d+){3}|::1")
_CONTACT = re.compile(r"[^\s()@<>]+@[^\s()@<>]+\.[^\s()@<>]+|https?://[^\s()<>]+\.[^\s()<>]+")


def split_address(address: str, /) -> urllib.parse.SplitResult:
    """Returns the parts of an http or https address.

    Raises:
        InputError: It is none, or holds a user name.
    """
    try:
        parts = urllib.parse.urlsplit(address)
        host = parts.hostname
    except ValueError:
        parts, host = urllib.parse.SplitResult("", "", "", "", ""), None
    # urllib would open file: and ftp: addresses too.
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\x00-\x20]", address):
        raise InputError(
            f"{address!r} is no endpoint; expected an address such as https://host/sparql",
            argument="endpoint",
        )
    if parts.username is not None:
        raise InputError(
            "the endpoint's address holds a user name; endpoints with passwords are not read",
            argument="endpoint",
        )
    return parts


def is_local(host: str, /) -> bool:
    """Returns whether a host is this machine.

    >>> is_local("127.0.0.1"), is_local("dbpedia.org")
    (True, False)
    """
    return _LOCAL.fullmatch(host) is not None


def user_agent(host: str, contact: str | None, /) -> str:
    """Returns the user agent for a host.

    Raises:
        InputError: The contact is neither a mail address nor a URL, or there is none and the
            host is Wikimedia's.

    >>> user_agent("localhost", None).startswith("graph-service/")
    True
    """
    if not contact:
        if _WIKIMEDIA.search(host):
            raise InputError(
                f"{host} wants to know whom to write to: give a mail address or a URL",
                argument="contact",
                hint="Say --contact you@example.org, or set GRAPH_SERVICE_CONTACT.",
            )
        return f"graph-service/{__version__}"
    if not _CONTACT.fullmatch(contact) or not contact.isascii():
        raise InputError(
            f"{contact!r} is no contact; expected a mail address or a URL", argument="contact"
        )
    return f"graph-service/{__version__} ({contact})"
