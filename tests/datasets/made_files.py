"""Small made-up files in the published formats, a set that is published nowhere, and a server for it."""

import io
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from certselect.datasets.catalogue import PublishedSet
from certselect.datasets.content import content_sum
from certselect.datasets.formats import comma_file

COMMA_FILE = b"b,1,2.5,?\nb,0,-0.1,3\na,1,7,0\n"
VALUES = np.array([[1, 2.5, np.nan], [0, -0.1, 3], [1, 7, 0]])
LABELS = np.array(["b", "b", "a"])


def zipped(files):
    """A zip file of {path: content}."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return whole.getvalue()


def made_set(*addresses, X=VALUES, read=None):
    """What the catalogue would say of `COMMA_FILE` (or other values), published at some addresses."""
    return PublishedSet(
        name="TRY",
        title="Made up",
        file="try.npz",
        addresses=addresses,
        read=read or comma_file("try.data", label="first"),
        shape=X.shape,
        classes=(5, 4),
        content_sum=content_sum(X, LABELS),
    )


class Server:
    """Answers requests on loopback by {path: (status, body, stated length or None)} and notes their paths."""

    def __init__(self, address):
        self.address, self.answers, self.asked, self.silence = address, {}, [], threading.Event()

    def publish(self, path, body, *, status=200, stated=True):
        """`stated`: True for the true length, None for none, a number for that one."""
        self.answers[path] = status, body, len(body) if stated is True else stated
        return self.address + path


@contextmanager
def serving():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append(self.path)
            if self.path == "/silent":
                server.silence.wait(10)
                return
            status, body, stated = server.answers.get(self.path, (404, b"", 0))
            self.send_response(status)
            if stated is not None:
                self.send_header("Content-Length", str(stated))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{listener.server_port}")
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.silence.set()
        listener.shutdown()
        thread.join()
        listener.server_close()
