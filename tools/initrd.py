# SPDX-License-Identifier: GPL-2.0
"""Write an initrd: a cpio archive of the "newc" kind, without being root."""

import os
import stat


class Initrd:
    """Collects the entries, parents before children, and packs them."""

    def __init__(self):
        self._entries = {}

    def directory(self, path):
        """Add a directory."""
        self._add(path, stat.S_IFDIR | 0o755, b"", (0, 0))

    def device(self, path, major, minor):
        """Add a character device."""
        self._add(path, stat.S_IFCHR | 0o600, b"", (major, minor))

    def file(self, path, data, mode=0o644):
        """Add a file, or put another one in its place."""
        self._add(path, stat.S_IFREG | mode, data, (0, 0))

    def link(self, path, target):
        """Add a symbolic link."""
        self._add(path, stat.S_IFLNK | 0o777, target.encode(), (0, 0))

    def tree(self, folder):
        """Add all that is in a folder of this machine."""
        for where, folders, files in os.walk(folder):
            inside = os.path.relpath(where, folder)
            for name in sorted(folders):
                self.directory(os.path.normpath(os.path.join(inside, name)))
            for name in sorted(files):
                source = os.path.join(where, name)
                path = os.path.normpath(os.path.join(inside, name))
                if os.path.islink(source):
                    self.link(path, os.readlink(source))
                    continue
                with open(source, "rb") as file:
                    self.file(path, file.read(), os.stat(source).st_mode & 0o777)

    def _add(self, path, mode, data, rdev):
        self._entries[path] = (mode, data, rdev)

    def pack(self):
        """The archive as bytes; equal entries give equal bytes."""
        out = bytearray()
        for number, path in enumerate(self._entries, 1):
            out += _member(number, path, *self._entries[path])
        out += _member(0, "TRAILER!!!", 0, b"", (0, 0))
        return bytes(out)


def _member(number, path, mode, data, rdev):
    name = path.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, device, special device,
    # name size, checksum: all in eight hexadecimal digits
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + name) + _padded(data)


def _padded(data):
    return data + b"\0" * (-len(data) % 4)
