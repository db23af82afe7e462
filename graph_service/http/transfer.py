"""Bodies of answers, and plain requests."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any

from graph_service.http.connection import AnswerTooLargeError, open_bounded
from graph_service.http.faults import ERROR_BYTES, Fault, network_fault, refusal
from graph_service.http.host_client import HostClient, RequestPolicy

# Longer queries go by POST: servers and what stands before them cut long addresses.
LONGEST_GET = 1_500
_CHUNK = 1 << 16


class _CutError(Exception):
    """A body did not come whole."""


def read_body(response: Any, manners: RequestPolicy, polite: HostClient, /) -> bytes | Fault:
    """Returns the whole unpacked body of a response, which is closed, or why it can't.

    Args:
        response: As ``open_bounded`` gives it.
        manners: The limits on size and time.
        polite: Whose traffic this is.
    """
    try:
        return _whole_body(response, manners, polite)
    except TimeoutError:
        return Fault(f"no end of the answer in {manners.timeout_s} s", of_query=True)
    except AnswerTooLargeError as error:
        return network_fault(error, manners.timeout_s)
    except _CutError as error:
        return Fault(str(error), of_query=True, retry="larger" not in str(error))
    except (OSError, http.client.HTTPException, zlib.error) as error:
        return Fault(f"the answer was cut ({type(error).__name__}: {error})", of_query=True)
    finally:
        response.close()


def _whole_body(response: Any, manners: RequestPolicy, polite: HostClient) -> bytes:
    limit = manners.max_answer_bytes
    packed = response.headers.get("Content-Encoding", "").strip().lower() == "gzip"
    unpacker = zlib.decompressobj(wbits=31) if packed else None
    pieces: list[bytes] = []
    size = read = 0
    while data := response.read(_CHUNK):
        read += len(data)
        polite.traffic.bytes_read += len(data)
        if unpacker is not None:
            data = unpacker.decompress(data, limit - size + 1)
        size += len(data)
        pieces.append(data)
        if size > limit:
            raise _CutError(f"an answer larger than {limit} bytes")
    declared = response.headers.get("Content-Length", "")
    # Compared as text: a number of thousands of digits is none that is read.
    if declared.isdecimal() and declared.lstrip("0") != str(read).lstrip("0"):
        shown = declared if len(declared) < 20 else f"{declared[:20]}..."
        raise _CutError(f"the answer was cut: {read} of {shown} bytes came")
    if unpacker is not None and read and not unpacker.eof:
        raise _CutError("the answer was cut inside its gzip stream")
    return b"".join(pieces)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply.

    Attributes:
        code: HTTP status; where it is not 200, ``body`` is the beginning of what came with it.
        address: Where it came from, after redirects.
    """

    code: int
    headers: Message
    body: bytes
    address: str


def get(
    polite: HostClient, address: str, /, *, parameters: Mapping[str, str] | None = None
) -> Reply | Fault:
    """Makes one request, by POST where its parameters are long, and returns its whole reply.

    A status other than 200 is a reply, not a fault: what it means is the caller's to say
    (``judge_status``).
    """
    manners = polite.manners
    data: bytes | None = None
    if parameters:
        encoded = urllib.parse.urlencode(parameters)
        if len(encoded) > LONGEST_GET:
            data = encoded.encode()
        else:
            address += ("&" if "?" in address else "?") + encoded
    request = urllib.request.Request(
        address,
        data=data,
        headers={
            "User-Agent": polite.agent,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
        },
    )
    try:
        response = open_bounded(
            request, timeout_s=manners.timeout_s, max_bytes=manners.max_answer_bytes
        )
    except urllib.error.HTTPError as error:
        try:
            body = error.read(ERROR_BYTES)
        except (OSError, http.client.HTTPException, ValueError):
            # The status says enough; the body only says more.
            body = b""
        finally:
            error.close()
        return Reply(error.code, error.headers, body, error.url)
    except (OSError, http.client.HTTPException) as error:
        return network_fault(error, manners.timeout_s)
    read = read_body(response, manners, polite)
    return read if isinstance(read, Fault) else Reply(200, response.headers, read, response.url)


def judge_status(reply: Reply, /) -> Fault | None:
    """Returns what a reply's status means, None where it is 200."""
    if reply.code == 200:
        return None
    return refusal(reply.code, reply.headers.get("Retry-After"), reply.body)
