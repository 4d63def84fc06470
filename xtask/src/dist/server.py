"""Serves the files of a release on loopback, for `cargo xtask dist --check`. Prints its port.

A path below /half/ is cut off in the middle though its whole length is announced; below /changed/ one byte is another one.
"""

import functools
import http.server
import pathlib
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, folder, *rest):
        self.folder = folder
        super().__init__(*rest)

    def do_GET(self):
        *kind, name = self.path.strip("/").split("/")
        path = self.folder / name
        if not path.is_file() or kind not in ([], ["half"], ["changed"]):
            self.send_error(404)
            return
        content = bytearray(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if kind == ["changed"]:
            content[len(content) // 2] ^= 1
        if kind == ["half"]:
            content = content[: len(content) // 2]
            self.close_connection = True
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, pathlib.Path(sys.argv[1])))
print(server.server_address[1], flush=True)
server.serve_forever()
