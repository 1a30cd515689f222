"""Writing never destroys: not the input, not a device, not through a link; a full disk leaves the old file."""

import errno
import itertools
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from certselect import writing
from certselect.errors import InvalidInput
from certselect.writing import check_destination, write_whole


def write(path, text="new"):
    write_whole(path, lambda file: file.write(text.encode()))


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_new_files_get_the_usual_mode_and_old_ones_keep_theirs(tmp_path):
    path, old = tmp_path / "new", os.umask(0o027)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write(path, "newer")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert contents(tmp_path) == {"new": "newer"}


def make_pipe(path):
    os.mkfifo(path)


def make_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("make", [make_pipe, make_device, make_socket, Path.mkdir])
def test_what_is_no_file_is_not_replaced(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    path = Path("there")
    make(path)
    before = path.lstat()
    for attempt in (check_destination, write):
        with pytest.raises(InvalidInput, match="'there', which is a folder, a device or a pipe"):
            attempt(path)
    assert (path.lstat().st_mode, path.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert os.listdir() == ["there"]


@pytest.mark.parametrize("target", ["file", "nothing", "folder", "itself"])
def test_links_are_neither_followed_nor_replaced(tmp_path, target):
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    link = tmp_path / "itself"
    link.symlink_to(target)
    for attempt in (check_destination, write):
        with pytest.raises(InvalidInput, match=r"which is a link; .* Name the file itself\."):
            attempt(link)
    assert os.readlink(link) == target
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "itself"]
    assert (tmp_path / "file").read_text() == "old"


def test_folders_may_be_links(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    write(check_destination(tmp_path / "link" / "new"))
    assert contents(tmp_path / "folder") == {"new": "new"}


def test_a_link_under_the_temporary_name_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(writing.secrets, "token_hex", lambda n: "guessed")
    (tmp_path / "victim").write_text("precious")
    trap = tmp_path / ".certselect.guessed.part"
    trap.symlink_to("victim")
    for attempt in (check_destination, write):
        with pytest.raises(InvalidInput, match="cannot be written"):
            attempt(tmp_path / "new")
    assert (tmp_path / "victim").read_text() == "precious"
    assert trap.is_symlink()
    assert not (tmp_path / "new").exists()


def test_something_put_there_meanwhile_stays(tmp_path):
    path = tmp_path / "new"

    def fill(file):
        file.write(b"new")
        path.symlink_to("elsewhere")

    with pytest.raises(InvalidInput, match="which is a link"):
        write_whole(path, fill)
    assert os.readlink(path) == "elsewhere"
    assert os.listdir(tmp_path) == ["new"]


def test_the_other_name_of_a_file_keeps_the_old_content(tmp_path):
    (tmp_path / "one").write_text("old")
    os.link(tmp_path / "one", tmp_path / "two")
    write(tmp_path / "one")
    assert contents(tmp_path) == {"one": "new", "two": "old"}


def test_write_protected_files_stay(tmp_path, monkeypatch):
    path = tmp_path / "old"
    path.write_text("old")
    monkeypatch.setattr(writing.os, "access", lambda path, mode: False)  # root may write everything
    for attempt in (check_destination, write):
        with pytest.raises(InvalidInput, match="which is write-protected"):
            attempt(path)
    assert contents(tmp_path) == {"old": "old"}


@pytest.mark.parametrize(
    ("old", "fails"), [*itertools.product(["old", None], ["write", "fsync", "replace"]), ("old", "chmod")]
)
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, old, fails):
    path = tmp_path / "file"
    if old is not None:
        path.write_text(old)

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if fails == "chmod":
        monkeypatch.setattr(Path, "chmod", full)
    elif fails != "write":
        monkeypatch.setattr(writing.os, fails, full)
    with pytest.raises(InvalidInput, match=r"cannot be written \(No space left on device\)"):
        write_whole(path, full if fails == "write" else lambda file: file.write(b"new"))
    assert contents(tmp_path) == ({} if old is None else {"file": "old"})


def test_a_file_beyond_the_limit_leaves_the_old_one(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(InvalidInput, match=r"cannot be written \(File too large\)"):
            write(path, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert contents(tmp_path) == {"file": "old"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_it_leaves_the_old_file(tmp_path, error):
    (tmp_path / "file").write_text("old")

    def fill(file):
        file.write(b"half")
        raise error

    with pytest.raises(error):
        write_whole(tmp_path / "file", fill)
    assert contents(tmp_path) == {"file": "old"}


def test_a_kill_leaves_the_old_file(tmp_path):
    (tmp_path / "file").write_text("old")
    code = "import os, signal, sys; from certselect.writing import write_whole\n"
    code += "def fill(file): file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    code += "write_whole(sys.argv[1], fill)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")])
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("name", ["no/such/folder/r.json", "file/r.json", "r\x00.json", "n" * 300 + ".json"])
def test_places_that_cannot_be_written_are_named(tmp_path, name):
    (tmp_path / "file").write_text("old")
    for attempt in (check_destination, write):
        with pytest.raises(InvalidInput, match=r"cannot be written .*a file in a folder that can be written to"):
            attempt(tmp_path / name)
    assert contents(tmp_path) == {"file": "old"}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="Linux has it")
def test_a_folder_where_even_root_cannot_write_is_known_before_the_work():
    with pytest.raises(InvalidInput, match="cannot be written"):
        check_destination("/proc/r.json")


def test_inputs_are_known_by_every_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = Path("table.csv")
    table.write_text("a,b\n")
    Path("folder").mkdir()
    Path("way").symlink_to("folder")
    Path("symbolic.json").symlink_to("table.csv")
    os.link(table, "hard.json")
    names = ["table.csv", "./table.csv", "folder/../table.csv", tmp_path / "table.csv", "symbolic.json", "hard.json"]
    for name in [*names, "way/../table.csv"]:
        with pytest.raises(InvalidInput, match=r"which is 'table\.csv', a file of this command"):
            check_destination(name, ["other.csv", table])
    with pytest.raises(InvalidInput, match="a file of this command"):  # neither of which is there yet
        check_destination("./new.json", ["folder/../new.json"])
    check_destination("new.json", [table])
    assert sorted(os.listdir()) == ["folder", "hard.json", "symbolic.json", "table.csv", "way"]
