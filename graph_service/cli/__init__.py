"""The command line: the one place that puts all the parts together.

Everything heavy is imported when its verb runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence

from graph_service.cli.output import Output, visible_streams
from graph_service.cli.parser import make_parser
from graph_service.errors import GraphServiceError, InputError, LimitError, SetupError, StoreError

EXIT_INPUT = 2
EXIT_REJECTED = 3
EXIT_SETUP = 4
EXIT_STORE = 5
EXIT_LIMIT = 6
EXIT_INTERRUPTED = 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(
    arguments: Sequence[str] | None = None,
    /,
    *,
    parser: Callable[[Sequence[str]], argparse.ArgumentParser] = make_parser,
) -> int:
    """Runs one verb and returns the exit code.

    0 fine; 1 a model gave no answer; 2 bad input; 3 something was rejected (load) or
    some questions failed (retrieve); 4 set-up; 5 store; 6 a limit; 130
    interrupted.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    raw = "--raw" in words
    with visible_streams(raw=raw):
        output = Output(as_json="--json" in words, raw=raw)
        try:
            return _run(words, output, parser(words))
        except GraphServiceError as error:
            output.error(error)
            return exit_code(error)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            output.object({"error": {"code": "INTERRUPTED", "message": "interrupted"}})
            return EXIT_INTERRUPTED
        except BrokenPipeError:
            # The reader of our output (head, less) has gone; there is nobody left to tell.
            sys.stderr.close()
            return 0
        except (OSError, MemoryError, RuntimeError, ValueError) as error:
            mapped = _mapped(error)
            if mapped is None:
                raise
            try:
                output.error(mapped)
                sys.stdout.flush()
            except OSError:
                # What is left in the buffer would fail once more when the process ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return exit_code(mapped)


def _require_no_endless_device(word: str) -> None:
    """Raises ``InputError`` where an argument names a device whose content never ends.

    Reading ``/dev/zero`` takes all the memory of the machine before it fails.
    """
    for name in {word, *re.split("sqlite:///|[=,]", word)}:
        try:
            mode = os.stat(name).st_mode
        except (OSError, ValueError):
            continue
        if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _is_finite(name)):
            raise InputError(f"{name} is a device; expected a file")


def _is_finite(device: str) -> bool:
    """Returns whether a device is a terminal, or the one that holds nothing."""
    if os.path.samefile(device, os.devnull):
        return True
    try:
        descriptor = os.open(device, os.O_RDONLY | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return False
    try:
        return os.isatty(descriptor)
    finally:
        os.close(descriptor)


def _run(words: Sequence[str], output: Output, parser: argparse.ArgumentParser) -> int:
    if any("\0" in text for text in words):
        raise InputError("an argument has a NUL byte, which no file name can have")
    for word in words:
        _require_no_endless_device(word)
    parsed = parser.parse_args(words)
    if not hasattr(parsed, "run"):
        parser.print_help()
        return EXIT_INPUT
    from graph_service.cli.options import read_options

    options = read_options(parsed.options, parsed)
    with _own_prompts(options):
        # A verb prints and returns its exit code, or returns a report.
        result = parsed.run(options, output)
        code: int = result if isinstance(result, int) else output.report(result)
    sys.stdout.flush()
    return code


def _mapped(error: Exception) -> GraphServiceError | None:
    """Returns the error of ours for one of a user's file that no reader has mapped.

    None for what is a fault of the program.
    """
    match error:
        case OSError() if error.errno in _FULL:
            return SetupError(
                f"can't write all of the output: {error.strerror}", hint="Free some space."
            )
        case OSError():
            names = [str(name) for name in (error.filename, error.filename2) if name is not None]
            return SetupError(
                f"can't read or write {' and '.join(names) or 'a file'}: {error.strerror or error}",
                hint="Name another file, or let this user read and write there.",
            )
        case MemoryError():
            return SetupError(
                "no memory is left for this", hint="Give the process more, or name a smaller file."
            )
        case UnicodeDecodeError():
            return InputError(f"a file is not UTF-8 (byte {error.start}: {error.reason})")
        case UnicodeEncodeError():
            return InputError(
                f"an argument or the name of a file is not UTF-8: {error.object[:80]!r}"
            )
        case RuntimeError() if "Symlink loop" in str(error):
            return SetupError(str(error), hint="Name another file, or mend the links.")
        case ValueError() if "null byte" in str(error) or "null character" in str(error):
            return InputError("the name of a file has a NUL byte, which no file name can have")
        case ValueError() if "has an empty name" in str(error):
            return InputError("the name of a file is empty")
    return None


@contextlib.contextmanager
def _own_prompts(options: object) -> Iterator[None]:
    """Puts the prompts of ``--prompt NAME=FILE`` in use while a verb runs."""
    from graph_service.cli.answer.options import OwnPromptOptions

    if not isinstance(options, OwnPromptOptions) or not options.prompts:
        yield
        return
    from queries.generate.prompt import using_prompts
    from queries.score.own_prompt import read_own_prompts

    with using_prompts(read_own_prompts(options.prompts)):
        yield


def exit_code(error: GraphServiceError, /) -> int:
    """Returns the exit code of an error."""
    if isinstance(error, InputError):
        return EXIT_INPUT
    if isinstance(error, SetupError):
        return EXIT_SETUP
    if isinstance(error, LimitError):
        return EXIT_LIMIT
    if isinstance(error, StoreError):
        return EXIT_STORE
    return 1


__all__ = ["main"]
