"""The one file that a command writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def target(out: Path, suffixes: tuple[str, ...], what: str) -> Iterator[Callable[[Callable[[Path], object]], None]]:
    """Refuse a file that cannot be written, before anything is computed; then give a function that writes it.

    That function takes another one, which is called with the path of a new file beside `out`; when it has filled the
    file, it is moved to `out`. A command that fails or is stopped leaves the old file, or none.
    """
    from repbm.core import InputError, partial_file, writing

    if out.suffix.lower() not in suffixes:
        raise InputError(f"this is no name of a {what}", where=str(out), fix=f"let it end in {' or '.join(suffixes)}")
    folder = out.absolute().parent
    with ExitStack() as stack:
        with writing(out):
            if out.is_dir():
                raise InputError("this is a folder", where=str(out), fix="name a file")
            if not folder.is_dir():
                raise InputError("there is no such folder", where=str(folder), fix="make it first")
            real = out.resolve()  # where it is a link, the file that it points to is written
            partial = stack.enter_context(partial_file(real))

        def write(save: Callable[[Path], object]) -> None:
            with writing(out):
                save(partial)
                partial.replace(real)

        yield write
