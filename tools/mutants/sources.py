"""Whether a source file is the one that was recorded."""

import hashlib
from pathlib import Path


def hash_source(path: Path) -> str:
    """Returns a hash of a file's text; the empty string where there is no such file."""
    if not path.is_file():
        return ""
    return hashlib.blake2b(path.read_bytes(), digest_size=12).hexdigest()
