# SPDX-License-Identifier: Apache-2.0
"""A web server on the loopback address for tests/cli/fetch.sh.

fetch_server.py FOLDER LOG: writes its port on the first line of LOG, then a line
for each request: path, and what Range asked for. Files lie in FOLDER; the first
part of the path says how they are served:

/good/X       as they are; Range is understood
/plain/X      as they are; Range is not understood
/broken/X     the first request sends half and hangs up; later ones are good
/always/X     every request sends half of what was asked and hangs up
/slow/X       a few bytes, then nothing
/moved/X      a redirection to /good/X; /loop/X to itself; /away/X to plain http elsewhere
/wrong/X      the bytes of X, each of them changed
"""
import http.server
import os
import re
import sys
import time

folder, log_path = sys.argv[1:3]
log = open(log_path, "w", buffering=1)
broken = set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *args):
        pass

    def redirect(self, to):
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        _, how, name = self.path.split("/", 2)
        wanted = self.headers.get("Range", "")
        print(self.path, wanted or "-", file=log)
        if how == "moved":
            return self.redirect(f"/good/{name}")
        if how == "loop":
            return self.redirect(self.path)
        if how == "away":
            return self.redirect(f"http://192.0.2.1/{name}")
        path = os.path.join(folder, os.path.basename(name))
        if not os.path.isfile(path):
            return self.send_error(404)
        body = open(path, "rb").read()
        if how == "wrong":
            body = bytes(b ^ 1 for b in body)
        start = re.fullmatch(r"bytes=(\d+)-", wanted) if how != "plain" else None
        begin = int(start[1]) if start else 0
        if start and begin >= len(body):
            return self.send_error(416)
        rest = body[begin:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        if start:
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        if how == "always" or (how == "broken" and name not in broken):
            broken.add(name)
            rest = rest[: len(rest) // 2]
        if how == "slow":
            self.wfile.write(rest[:10])
            self.wfile.flush()
            time.sleep(30)
            return None
        self.wfile.write(rest)
        return None


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], file=log)
server.serve_forever()
