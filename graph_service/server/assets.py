"""Pages that a server shows to browsers, from files of this package.

The files are read when the server starts and stay in memory. Those that others wrote are pinned by
their SHA-256. All but the pages themselves stand at an address with a hash of them all in it, so
that browsers may keep them for ever and a new version is fetched at once. Addresses in pages are
relative, so that a proxy may serve all of them below a path of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graph_service.errors import SetupError

Refuse = Callable[[Request], Response | None]
"""Says why a request is refused; None if it is not."""
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_GUARDS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}


@dataclass(frozen=True, slots=True)
class Assets:
    """The files of some pages, in memory.

    Attributes:
        pages: The HTML of each page, by the name of its file, with placeholders.
        files: What the pages load, by name.
        digest: A hash of all files, of 16 characters.
    """

    pages: Mapping[str, str]
    files: Mapping[str, bytes]
    digest: str


@dataclass(frozen=True, slots=True)
class PageSet:
    """Pages that share files.

    Attributes:
        name: What people know them by.
        address: The first part of the addresses of files.
        option: The option of ``serve`` that leaves the pages out.
        pinned: The SHA-256 of each file that others wrote.
        own: The other files that pages load.
        pages: The files of the pages.
        policy: The Content-Security-Policy of each page.
    """

    name: str
    address: str
    option: str
    pinned: Mapping[str, str]
    own: Sequence[str]
    pages: Sequence[str]
    policy: str

    def read(self, folder: Path, /) -> Assets:
        """Returns the files.

        Raises:
            SetupError: One is missing, or is not the one that its project published.
        """
        files = {name: self._read(folder / name) for name in (*self.pinned, *self.own)}
        for name, expected in self.pinned.items():
            if hashlib.sha256(files[name]).hexdigest() != expected:
                raise SetupError(
                    f"{folder / name} is not the file that its project published",
                    hint=self._hint(),
                )
        pages = {name: self._read(folder / name).decode() for name in self.pages}
        digest = hashlib.sha256(b"".join(files[name] for name in sorted(files))).hexdigest()
        return Assets(pages, files, digest[:16])

    def page(
        self, assets: Assets, name: str, /, replacements: Mapping[str, str] | None = None
    ) -> Response:
        """Returns a page.

        Args:
            assets: The files.
            name: The file of the page.
            replacements: What stands in the page for each of its placeholders but FOLDER.
        """
        text = assets.pages[name].replace("FOLDER", f"{self.address}/{assets.digest}")
        for placeholder, meant in (replacements or {}).items():
            text = text.replace(placeholder, meant)
        headers = {
            **_GUARDS,
            "content-security-policy": self.policy,
            "cache-control": "no-cache",
            "vary": "Accept",
        }
        return Response(text, headers=headers, media_type="text/html")

    def file_route(self, assets: Assets, refuse: Refuse, /) -> Route:
        """Returns the route of the files that the pages load."""

        async def file(request: Request) -> Response:
            refused = refuse(request)
            if refused is not None:
                return refused
            name = request.path_params["name"]
            if request.path_params["digest"] != assets.digest or name not in assets.files:
                raise HTTPException(404)
            headers = {
                **_GUARDS,
                "cross-origin-resource-policy": "same-origin",
                "cache-control": "public, max-age=31536000, immutable",
            }
            kind = _TYPES[Path(name).suffix]
            return Response(assets.files[name], headers=headers, media_type=kind)

        return Route(f"/{self.address}/{{digest}}/{{name}}", file, methods=["GET"])

    def _read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise SetupError(
                f"{self.name} can't be shown: {path} can't be read: {error.strerror}",
                hint=self._hint(),
            ) from error

    def _hint(self) -> str:
        return f"Install graph-service again, or serve without {self.name}: {self.option}"
