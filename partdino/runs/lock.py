"""One run at a time in a folder: two would mix, each taking the other's files for its own."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from partdino.errors import OutputError
from partdino.files import check_writable, recover_folder, remove
from partdino.output_marks import DROPPED_FOLDER
from partdino.runs.resume import LOCK_FILE

# What network disks that have no locks say.
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder inside the block, as it was before a run was killed in it.

    The lock goes with the process, however that ends. A folder that is made for it, and that
    nothing was written to, is removed again.

    Raises
    ------
    OutputError
        Another run is writing to the folder, or it cannot be written.
    """
    recover_folder(folder)
    check_writable(folder)
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / LOCK_FILE
    lock = FileLock(file)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise OutputError(
            f"another run is writing to {folder}; wait for its end, or choose another --out"
        ) from error
    except NotImplementedError:
        pass  # disks without locks are on their own
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise OutputError(f"cannot lock {folder}: {error.strerror}") from error
    try:
        remove(folder / DROPPED_FOLDER)  # of a run that was killed while it did so
        yield
    finally:
        # While it is held: who has opened it before finds it gone and does not take it (filelock).
        # Before 3.30, filelock's release removed it once more, which may be another run's by then.
        file.unlink(missing_ok=True)
        lock.release()
        for place in made:
            with suppress(OSError):
                place.rmdir()
