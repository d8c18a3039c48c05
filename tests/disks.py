"""Disks for tests: one that fails at operation k, and one that tells what a power failure leaves.

`RecordingDisk` does all work on the real disk and writes down every operation, in order. From that
`list_states` makes the folders that a power failure could leave behind: what was forced onto the
disk is there; of what was not, anything may be there, whole, in part or not at all, whatever the
order.
"""

import errno
import itertools
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from rtbot.storage.files import Files

MAKE, WRITE, CUT, SYNC, RENAME, REMOVE, SYNC_FOLDER = (
    "make", "write", "cut", "sync", "rename", "remove", "sync folder"
)  # fmt: skip
FOLDER_KINDS = (MAKE, RENAME, REMOVE)


@dataclass(frozen=True)
class Operation:
    """One piece of file work: `node` is the file itself, whatever its name is by now.

    `path` is relative to the root. `place` is an offset, or the length to cut to; `data` what is
    written, `target` the new name.
    """

    kind: str
    path: str = ""
    node: int = -1
    place: int = 0
    data: bytes = b""
    target: str = ""


class RecordingDisk(Files):
    """Files below `root` whose operations are kept; `begun` are the files that were there."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.operations = []
        self.names, self.begun = {}, {}
        for node, path in enumerate(sorted(p for p in self.root.rglob("*") if p.is_file())):
            self.names[self._relative(path)] = node
            self.begun[self._relative(path)] = (node, path.read_bytes())
        self.nodes = len(self.names)

    def do(self, operation):
        """Write an operation down before it is done; those who fail do so here."""
        self.operations.append(operation)

    def _relative(self, path):
        return str(Path(path).resolve().relative_to(self.root))

    def create(self, path, mode=0o666):
        return self._open_tracked(path, super().create, mode, empty=True)

    def update(self, path, mode=0o666):
        return self._open_tracked(path, super().update, mode, empty=False)

    def _open_tracked(self, path, opening, mode, *, empty):
        name = self._relative(path)
        if name not in self.names:
            self.do(Operation(MAKE, name, self.nodes))
            self.names[name] = self.nodes
            self.nodes += 1
        elif empty:
            self.do(Operation(CUT, name, self.names[name]))
        return TrackedFile(self, opening(path, mode), name, self.names[name])

    def truncate(self, file, length):
        self.do(Operation(CUT, file.name, file.node, length))
        super().truncate(file.file, length)

    def sync(self, file):
        file.flush()
        self.do(Operation(SYNC, file.name, file.node))
        super().sync(file.file)

    def sync_folder(self, path):
        self.do(Operation(SYNC_FOLDER, self._relative(Path(path).absolute().parent)))
        super().sync_folder(path)

    def rename(self, source, target):
        old, new = self._relative(source), self._relative(target)
        self.do(Operation(RENAME, old, self.names[old], target=new))
        super().rename(source, target)
        self.names[new] = self.names.pop(old)

    def remove(self, path):
        name = self._relative(path)
        if name in self.names:
            self.do(Operation(REMOVE, name, self.names[name]))
            super().remove(path)
            del self.names[name]


class TrackedFile:
    """An open file whose writes are written down, one operation for each."""

    def __init__(self, files, file, name, node):
        self.files, self.file, self.name, self.node = files, file, name, node

    def write(self, data):
        data = bytes(data)
        self.files.do(Operation(WRITE, self.name, self.node, self.file.tell(), data))
        self.file.write(data)
        self.file.flush()
        return len(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getattr__(self, name):
        return getattr(self.file, name)


class FailingDisk(RecordingDisk):
    """Fails at operation `k` (from 0) with an error of the system, and at every one behind it."""

    def __init__(self, root, k, number=errno.ENOSPC):
        super().__init__(root)
        self.k, self.number = k, number

    def do(self, operation):
        if len(self.operations) >= self.k:
            self.operations.append(operation)
            raise OSError(self.number, os.strerror(self.number))
        super().do(operation)


class KillingDisk(RecordingDisk):
    """Kills this process at operation `k`."""

    def __init__(self, root, k):
        super().__init__(root)
        self.k = k

    def do(self, operation):
        if len(self.operations) == self.k:
            os.kill(os.getpid(), signal.SIGKILL)
        super().do(operation)


class OmittingDisk(RecordingDisk):
    """Leaves the `k`th operation of a kind out: a force onto the disk that somebody removed."""

    def __init__(self, root, kind, k):
        super().__init__(root)
        self.kind, self.k, self.seen = kind, k, 0

    def do(self, operation):
        if operation.kind == self.kind:
            self.seen += 1
            if self.seen - 1 == self.k:
                return
        super().do(operation)


# ---- what a power failure leaves


def list_states(operations, begun):
    """Folders, as {path: bytes}, that a failure behind all of these operations could leave."""
    seen = set()
    for names in _list_folders(operations, begun):
        nodes = sorted(set(names.values()))
        contents = [_list_contents(operations, begun, node) for node in nodes]
        for chosen in _list_choices(contents):
            whole = dict(zip(nodes, chosen, strict=True))
            state = {path: whole[node] for path, node in names.items()}
            kept = tuple(sorted(state.items()))
            if kept not in seen:
                seen.add(kept)
                yield state


def _list_choices(contents):
    """All are whole, all are as they were forced; one is damaged while others are whole or not."""
    yield [options[0] for options in contents]
    yield [options[-1] for options in contents]
    for place, options in enumerate(contents):
        for option, others in itertools.product(options, (0, -1)):
            chosen = [other[others] for other in contents]
            chosen[place] = option
            yield chosen


def _list_folders(operations, begun):
    """Names and their nodes: what is not forced is done up to some point, or left out alone."""
    names = {path: node for path, (node, _) in begun.items()}
    loose = []
    for operation in operations:
        if operation.kind in FOLDER_KINDS:
            loose.append(operation)
        elif operation.kind == SYNC_FOLDER:
            forced = [o for o in loose if str(Path(o.path).parent) == operation.path]
            _apply(names, forced)
            loose = [o for o in loose if o not in forced]
    options = [loose[:count] for count in range(len(loose), -1, -1)]
    options += [loose[:k] + loose[k + 1 :] for k in range(len(loose) - 1)]
    for option in options:
        found = dict(names)
        _apply(found, option)
        yield found


def _apply(names, operations):
    for operation in operations:
        if operation.kind == MAKE:
            names[operation.path] = operation.node
        elif operation.path in names and names[operation.path] == operation.node:
            del names[operation.path]
        if operation.kind == RENAME:
            names[operation.target] = operation.node


def _list_contents(operations, begun, node):
    """What may be in a file, from all that was written to what was forced onto the disk."""
    data = next((data for number, data in begun.values() if number == node), b"")
    loose = []
    for operation in operations:
        if operation.node == node and operation.kind in (WRITE, CUT):
            loose.append(operation)
        elif operation.node == node and operation.kind == SYNC:
            data, loose = _apply_writes(data, loose), []
    whole = _apply_writes(data, loose)
    options = [whole]
    options += [_apply_writes(data, loose[:k] + loose[k + 1 :]) for k in range(len(loose) - 1)]
    options += [_apply_writes(data, loose[:count]) for count in range(len(loose) - 1, 0, -1)]
    if loose:
        options.append(data[: len(whole)] + bytes(max(len(whole) - len(data), 0)))
        options.append(whole[: (len(data) + len(whole)) // 2])
    return list(dict.fromkeys([*options, data]))


def _apply_writes(data, operations):
    found = bytearray(data)
    for operation in operations:
        if operation.kind == CUT:
            del found[operation.place :]
            found.extend(bytes(operation.place - len(found)))
        else:
            found.extend(bytes(max(operation.place - len(found), 0)))
            found[operation.place : operation.place + len(operation.data)] = operation.data
    return bytes(found)
