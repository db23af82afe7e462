"""HTTP heads that a proxy and this server could read as different requests are refused.

What a proxy takes for the body of a permitted request, the server behind it would take for a second
request that the proxy never saw (request smuggling). RFC 9112 lets a server refuse each of these
heads (sections 2.2, 5.2, 6.1 and 6.3); h11 reads them.
"""

from __future__ import annotations

import re

import h11

_HEAD = re.compile(rb".*?\n\r?\n", re.DOTALL)
_AMBIGUOUS_LINE = re.compile(rb"(?<!\r)\n|\n[ \t]")


class StrictConnection(h11.Connection):
    """h11's connection of a server, which reads a head in one way or not at all."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Returns what comes next, as h11 does.

        Raises:
            h11.RemoteProtocolError: What came is no HTTP; or a line of the head ends without a
                carriage return or goes on in the next line; or its body has two lengths.
        """
        if self.their_state is h11.IDLE:
            head = _HEAD.match(self.trailing_data[0])
            if head and _AMBIGUOUS_LINE.search(head[0]):
                raise h11.RemoteProtocolError("a line of the head that others read as two or none")
        event = super().next_event()
        if isinstance(event, h11.Request) and _has_two_lengths(event):
            raise h11.RemoteProtocolError("a body whose length others read in another way")
        return event


def _has_two_lengths(request: h11.Request) -> bool:
    names = {name for name, _ in request.headers}
    return b"transfer-encoding" in names and (
        b"content-length" in names or request.http_version < b"1.1"
    )
