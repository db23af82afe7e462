"""One request, its whole reply, and what went wrong."""

from __future__ import annotations

import socket
import ssl
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from graph_service.http.connection import (
    AnswerTooLargeError,
    RedirectRefusedError,
    bounds_of,
    open_client,
)
from graph_service.http.faults import Fault, refusal
from graph_service.http.host_client import HostClient

# Longer queries go by POST: servers and what stands before them cut long addresses.
LONGEST_GET = 1_500
# An error's words stand at its beginning, within stack traces of some kilobytes.
_ERROR_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply.

    Attributes:
        code: HTTP status; where it is no success, ``body`` is the beginning of what came with it.
        headers: By name, whatever its case.
        body: Unpacked.
    """

    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        """The media type without parameters; ``text/plain`` where none is named (RFC 2045, 5.2)."""
        named = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        return named or "text/plain"


def send(
    polite: HostClient,
    address: str,
    /,
    *,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply | Fault:
    """Makes one request, by POST where it has content, and returns its whole reply.

    A status other than success is a reply, not a fault: what it means is the caller's to say
    (``judge_status``).
    """
    manners = polite.manners
    sent = httpx.Headers(headers)
    # One request a connection: most pauses between requests outlast what is kept open.
    sent.update({"User-Agent": polite.agent, "Connection": "close"})
    response: httpx.Response | None = None
    try:
        with (
            open_client(timeout_s=manners.timeout_s, max_bytes=manners.max_answer_bytes) as client,
            client.stream(
                "GET" if content is None else "POST", address, content=content, headers=sent
            ) as response,
        ):
            body = response.read() if response.is_success else _beginning(response)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _fault(error, manners.timeout_s, begun=response is not None)
    finally:
        if response is not None:
            polite.traffic.bytes_read += bounds_of(response).received
    return Reply(response.status_code, response.headers, body)


def get(
    polite: HostClient, address: str, /, *, parameters: Mapping[str, str] | None = None
) -> Reply | Fault:
    """Asks for JSON, by POST where the parameters are long; see ``send``."""
    headers = {"Accept": "application/json"}
    encoded = urllib.parse.urlencode(parameters or {})
    if len(encoded) > LONGEST_GET:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        return send(polite, address, content=encoded.encode(), headers=headers)
    if encoded:
        address += ("&" if "?" in address else "?") + encoded
    return send(polite, address, headers=headers)


def judge_status(reply: Reply, /) -> Fault | None:
    """Returns what a reply's status means, None where it is a success."""
    if 200 <= reply.code < 300:
        return None
    return refusal(reply.code, reply.headers.get("Retry-After"), reply.body)


def _beginning(response: httpx.Response) -> bytes:
    """Returns the first bytes of an error's body, and fewer where no more come."""
    body = b""
    try:
        for piece in response.iter_bytes():
            body += piece
            if len(body) >= _ERROR_BYTES:
                break
    except httpx.HTTPError:
        # The status says enough; the body only says more.
        pass
    return body[:_ERROR_BYTES]


def _fault(error: Exception, timeout_s: int, *, begun: bool) -> Fault:
    """Returns what an error means; ``begun`` says whether status and headers had come."""
    cause = error.__cause__ or error
    if isinstance(error, AnswerTooLargeError):
        return Fault(str(error), of_query=True, retry=False)
    if isinstance(error, RedirectRefusedError):
        return Fault(f"refused: {error}", of_query=False, retry=False)
    if isinstance(error, (httpx.TooManyRedirects, httpx.InvalidURL)):
        return Fault(str(error), of_query=False, retry=False)
    if isinstance(error, httpx.TimeoutException):
        waited_for = "no end of the answer" if begun else "no answer"
        return Fault(f"{waited_for} in {timeout_s} s", of_query=True)
    if begun:
        return Fault(f"the answer was cut: {error}", of_query=True)
    if isinstance(cause, ssl.SSLError):
        return Fault(f"no secure connection ({cause})", of_query=False, retry=False)
    if isinstance(error, (httpx.ReadError, httpx.WriteError, httpx.ProtocolError)):
        return Fault(f"the connection was cut ({type(cause).__name__})", of_query=True)
    if isinstance(cause, socket.gaierror):
        return Fault(
            "no connection: its name is not known here, as where there is no network or no name "
            f"server ({cause})",
            of_query=False,
            unreachable=True,
        )
    return Fault(f"no connection ({cause})", of_query=False, unreachable=True)
