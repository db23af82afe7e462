"""The command line: the one place that puts all the parts together.

Everything heavy is imported when its verb runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence

from graph_service.cli.output import Output, error_fields
from graph_service.cli.parser import make_parser
from graph_service.errors import GraphServiceError, InputError, LimitError, SetupError, StoreError

EXIT_INPUT = 2
EXIT_REJECTED = 3
EXIT_SETUP = 4
EXIT_STORE = 5
EXIT_LIMIT = 6
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, /) -> int:
    """Runs one verb and returns the exit code.

    0 fine; 1 a model gave no answer; 2 bad input; 3 something was rejected (load) or
    some questions failed (retrieve); 4 set-up; 5 store; 6 a limit; 130
    interrupted.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = make_parser(given)
    try:
        found = parser.parse_args(given)
        if not hasattr(found, "run"):
            parser.print_help()
            return EXIT_INPUT
        from graph_service.cli.options import read_options

        options = read_options(found.options, found)
    except InputError as error:
        report_error(error, Output(as_json="--json" in given))
        return EXIT_INPUT
    output = Output(as_json=options.json)
    try:
        with _own_prompts(options):
            code: int = found.run(options, output)
        sys.stdout.flush()
        return code
    except GraphServiceError as error:
        report_error(error, output)
        return exit_code(error)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        if output.as_json:
            print(json.dumps({"error": {"code": "INTERRUPTED", "message": "interrupted"}}))
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; there is nobody left to tell.
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        # What is left in the buffer would fail once more when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        full = SetupError(
            f"can't write all of the output: {error.strerror}", hint="Free some space."
        )
        report_error(full, Output())
        return EXIT_SETUP


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


def report_error(error: GraphServiceError, output: Output, /) -> None:
    """Prints an error on stderr, and as the JSON object where one was asked for."""
    print(f"error: {error}", file=sys.stderr)
    if output.as_json:
        print(json.dumps({"error": error_fields(error)}, ensure_ascii=False))


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
