"""Connections handed from the process that listens to those that answer, over a socket of theirs.

One process takes all connections, so that it can count them all, and gives each to the process
that has fewest. Of several that wait for connections on one socket, one might take them all.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from graph_service.server.connections import ConnectionLimits, Over, refusal_of

DRAIN, END = 2**64 - 1, 2**64 - 2
"""In place of a connection's number: say that you are not ready; end once those before are done."""
OPEN = 0
"""From a process that answers: it takes connections now."""
_MESSAGE = struct.Struct("<QB")
"""Number of a connection, and which limit it is over."""
_NUMBER = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class PassedConnection:
    """A connection that was handed over; it is the gate of its own protocol.

    Attributes:
        number: Of the connection.
        over: Which limit it is over.
        limits: Of all connections.
        channel: Where the other side hears that it was closed.
    """

    number: int
    over: Over
    limits: ConnectionLimits
    channel: Channel

    def enter(self, _address: str, /) -> str:
        """Returns why the connection may not stay, or nothing."""
        return refusal_of(self.limits, self.over)

    def leave(self, _address: str, /) -> None:
        """Says that it was closed."""
        self.channel.say(self.number)


class Channel:
    """The answering end of a socket between both processes. Used from one event loop.

    Args:
        connected: The socket.
        limits: Of connections.
    """

    def __init__(self, connected: socket.socket, limits: ConnectionLimits, /) -> None:
        self._socket = connected
        self._limits = limits
        self._left = b""
        self._descriptors: list[int] = []
        connected.setblocking(False)

    def fileno(self) -> int:
        """Returns the socket's descriptor, which selectors wait for."""
        return self._socket.fileno()

    def say(self, number: int, /) -> None:
        """Tells the other side a number."""
        # It may have ended, and then this process does too.
        with suppress(OSError):
            self._socket.setblocking(True)
            self._socket.sendall(_NUMBER.pack(number))
            self._socket.setblocking(False)

    def take(self) -> Iterator[tuple[PassedConnection, socket.socket] | int]:
        """Yields what has come: connections, ``DRAIN`` and ``END``.

        Raises:
            EOFError: The other side has ended.
        """
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(
                    self._socket, _MESSAGE.size - len(self._left), 1
                )
            except BlockingIOError:
                return
            except OSError as error:
                raise EOFError from error
            if not data:
                raise EOFError
            self._left += data
            self._descriptors += descriptors
            if len(self._left) < _MESSAGE.size:
                continue
            number, over = _MESSAGE.unpack_from(self._left)
            self._left = b""
            if number in (DRAIN, END):
                yield number
                continue
            if not self._descriptors:
                # This process may have no more files open: the kernel has closed the connection.
                self.say(number)
                continue
            connection = socket.socket(fileno=self._descriptors.pop(0))
            yield PassedConnection(number, Over(over), self._limits, self), connection

    def close(self) -> None:
        """Closes this process's end of the pair of sockets."""
        self._socket.close()


class ConnectionSender:
    """The handing end of such a socket, and which connections the other side has.

    Args:
        connected: The socket.
    """

    def __init__(self, connected: socket.socket, /) -> None:
        self._socket = connected
        self._left = b""
        self.addresses: dict[int, str] = {}
        connected.setblocking(False)

    def fileno(self) -> int:
        """Returns the socket's descriptor, which selectors wait for."""
        return self._socket.fileno()

    def send(self, number: int, address: str, over: Over, connection: socket.socket, /) -> bool:
        """Hands a connection over; returns whether there was room for it.

        Args:
            number: Of the connection.
            address: Where it is from.
            over: Which limit it is over.
            connection: It.
        """
        try:
            socket.send_fds(self._socket, [_MESSAGE.pack(number, over)], [connection.fileno()])
        except OSError:
            return False
        self.addresses[number] = address
        return True

    def tell(self, what: int, /) -> None:
        """Tells the other side ``DRAIN`` or ``END``."""
        with suppress(OSError):
            self._socket.setblocking(True)
            self._socket.settimeout(1.0)
            self._socket.sendall(_MESSAGE.pack(what, Over.NONE))
        with suppress(OSError):
            self._socket.setblocking(False)

    def hear(self) -> list[int]:
        """Returns the numbers that have come.

        Raises:
            EOFError: The other side has ended.
        """
        try:
            data = self._socket.recv(65_536)
        except BlockingIOError:
            return []
        except OSError as error:
            raise EOFError from error
        if not data:
            raise EOFError
        self._left += data
        end = len(self._left) // _NUMBER.size * _NUMBER.size
        numbers = [connection_id for (connection_id,) in _NUMBER.iter_unpack(self._left[:end])]
        self._left = self._left[end:]
        return numbers

    def close(self) -> None:
        """Closes this process's end of the pair of sockets."""
        self._socket.close()
