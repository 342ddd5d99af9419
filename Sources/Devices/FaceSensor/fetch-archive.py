"""Downloads a file of a package with pip's own client, and runs no code of the package.

    python3 -I fetch-archive.py FILE SHA256 SIZE FOLDER PACKAGE [OPTION]...

pip finds the file and opens the connections with the user's settings: index, folders, proxy,
certificates, passwords. `pip download` itself would run the package's setup.py to learn its name,
and older versions restart an interrupted download. This program keeps a partial file as FILE.part
and resumes it, even in the next run. The options are those of `pip download`.
"""

import fcntl
import hashlib
import os
import sys
import time

parent = os.getppid()
name, digest, size, folder, package = sys.argv[1:6]
size, path = int(size), os.path.join(folder, name)
part = path + ".part"

# Seconds to wait before each try.
PAUSES = (0, 0, 1, 2, 4, 8)
OTHER_PIP = (f"The pip of {sys.executable} works in a way that is not known here: {{}}. Have "
             "another python3 first in the PATH, such as Debian's with python3-pip, or put "
             f"{name} into {folder} yourself.")

try:
    from pip._internal.cli.cmdoptions import make_target_python
    from pip._internal.commands.download import DownloadCommand
    from pip._vendor.urllib3.exceptions import HTTPError
except ImportError as error:
    sys.exit(f"pip is missing for {sys.executable}: install python3-pip." if error.name == "pip"
             else OTHER_PIP.format(error))


class Refused(Exception):
    """The server refuses the file, or sends something other than the pinned file."""


class Broken(Exception):
    """The connection broke; another try may succeed."""


def answer(session, url, have, timeout):
    """Returns the response and its offset in the file; None: the whole file has to be requested."""
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        response = session.get(url, headers=headers, stream=True, timeout=timeout)
    except (OSError, HTTPError) as error:
        raise Broken(error) from error
    status, piece = response.status_code, response.headers.get("Content-Range", "")
    if status == 200:
        return response, 0
    if status == 206 and have and piece.startswith(f"bytes {have}-"):
        return response, have
    response.close()
    if status in (206, 416) and have:
        return None, 0
    raise Refused(f"{name} can't be had: the server's answer is {status}.")


def show(before, have):
    """Shows progress: on a terminal on a single line, otherwise at every tenth."""
    steps, end = (100, "\r") if sys.stdout.isatty() else (10, "\n")
    if have * steps // size > before * steps // size:
        text = f"{name}: {have * 100 // size:3} %, {have / 1e6:.1f} of {size / 1e6:.1f} MB"
        print(text, end="\n" if have == size else end, flush=True)


def append(file, response, have):
    """Appends the response to the file, up to the pinned size."""
    while True:
        try:
            content = response.raw.read(min(1 << 16, size - have + 1))
        except (OSError, HTTPError) as error:
            raise Broken(error) from error
        if os.getppid() != parent:
            raise Refused("What asked for the file has ended.")
        if have + len(content) > size:
            os.unlink(part)
            raise Refused(f"{name} is longer than the {size} bytes that were pinned.")
        if not content:
            break
        file.write(content)
        have += len(content)
        show(have - len(content), have)
    if have < size:
        raise Broken(f"{size - have} bytes are missing")


def fill(session, url, timeout):
    """Downloads the missing part of the file."""
    with open(part, "ab") as file:
        for pause in PAUSES:
            time.sleep(pause)
            have = file.seek(0, os.SEEK_END)
            if have == size:
                break
            try:
                response, start = answer(session, url, have if have < size else 0, timeout)
                file.truncate(start)
                if start:
                    print(f"{name}: going on behind {start / 1e6:.1f} MB", flush=True)
                if response:
                    with response:
                        append(file, response, file.seek(start))
            except Broken as error:
                print(f"{name}: the connection broke: {error}", file=sys.stderr, flush=True)
        if file.seek(0, os.SEEK_END) != size:
            raise Refused(f"The connection broke {len(PAUSES)} times; what came of {name} is kept.")
        os.fsync(file.fileno())


def found(place):
    """Returns the digest of a file."""
    hasher = hashlib.sha256()
    with open(place, "rb") as file:
        for content in iter(lambda: file.read(1 << 20), b""):
            hasher.update(content)
    return hasher.hexdigest()


def fetch(session, links, timeout):
    """Downloads the file to the folder and checks it."""
    if not links:
        raise Refused(f"pip finds no {name}: see what it says above, the network, and its settings "
                      "(python3 -m pip config list).")
    # A killed predecessor may have left a process that still downloads.
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"{name}: waiting for another fetch", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(path) and found(path) == digest:
            return
    # An existing partial file may belong to another file: then start again, at most once.
    for _ in range(2 if os.path.exists(part) else 1):
        fill(session, links[0].url_without_fragment, timeout)
        if found(part) == digest:
            os.replace(part, path)
            return
        os.unlink(part)
    raise Refused(f"{name} is not the file that was pinned, by its SHA-256; it was removed.")


class Fetch(DownloadCommand):
    """`pip download`, up to finding the file."""

    ignore_require_venv = True

    def run(self, options, arguments):
        try:
            session = self.get_default_session(options)
            finder = self._build_package_finder(
                options, session, make_target_python(options), ignore_requires_python=True)
            links = [candidate.link for candidate in finder.find_all_candidates(package)
                     if candidate.link.filename == name]
        except (AttributeError, TypeError) as error:
            print(OTHER_PIP.format(error), file=sys.stderr)
            return 1
        try:
            fetch(session, links, options.timeout or 60)
        except (OSError, Refused) as error:
            print(error, file=sys.stderr)
            return 1
        return 0


kind = "--only-binary" if name.endswith(".whl") else "--no-binary"
try:
    command = Fetch("download", "")
except (AttributeError, TypeError) as error:
    sys.exit(OTHER_PIP.format(error))
sys.exit(command.main(["--no-cache-dir", "--disable-pip-version-check", kind, package,
                       *sys.argv[6:]]))
