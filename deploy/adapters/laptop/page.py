"""The page that shows a robot's face, for browsers of this machine."""

import http.server
import json
import os
import threading
import time
from urllib.parse import urlsplit

FILES = {"/": ("face.html", "text/html; charset=utf-8"), "/face.css": ("face.css", "text/css"), "/face.js": ("face.js", "text/javascript")}
OWN = ("127.0.0.1", "localhost", "[::1]", "::1")


class Page:
    """What the page shows now. Units change it; each browser gets every change."""

    def __init__(self, folder):
        self.folder, self.image = folder, ""
        self.changed = threading.Condition()
        self.shown = {"face": "neutral", "led": {}, "screen": {}, "said": "", "note": "", "yaw_rad": 0, "pitch_rad": 0, "roll_rad": 0}
        self.choose = self.touch = lambda _: None  # what a person does on the page

    def show(self, **fields):
        with self.changed:
            if any(self.shown[k] != v for k, v in fields.items()):
                self.shown = {**self.shown, **fields}
                self.changed.notify_all()

    def show_screen(self, screen, image):
        self.image = image
        self.show(screen={**screen, **({"image": f"image?{os.path.basename(image)}"} if image else {})})

    def serve(self, address):
        host, _, port = address.rpartition(":")
        if host not in OWN:
            raise SystemExit(f"--page {address}: the page has no password; it serves addresses of this machine only, such as 127.0.0.1:8091")
        handler = type("Handler", (Handler,), {"page": self})
        try:
            server = http.server.ThreadingHTTPServer((host.strip("[]"), int(port)), handler)
        except (OSError, ValueError) as e:
            raise SystemExit(f"--page {address}: {e}; take another port, such as a free one with {host}:0")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"face http://{host}:{server.server_port}/", flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def own(self):
        """Reports whether the request is from the page itself, and not from another one."""
        hosts = [urlsplit("//" + self.headers.get("Host", "")).hostname]
        if origin := self.headers.get("Origin"):
            hosts.append(urlsplit(origin).hostname)
        if all(h in OWN for h in hosts):
            return True
        self.send_error(403, "the page serves this machine only")

    def do_GET(self):
        path = urlsplit(self.path).path
        if not self.own():
            return
        if path == "/events":
            return self.events()
        name, kind = FILES.get(path, ("", ""))
        if path == "/image":
            name, kind = self.page.image, "image/png"  # browsers look into the file
        try:
            with open(os.path.join(self.page.folder, name), "rb") as f:
                self.answer(f.read(), kind)
        except OSError:
            self.send_error(404)

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 10_000))
        if not self.own():
            return
        try:
            m = json.loads(body)
            if "choice" in m:
                self.page.choose(str(m["choice"]))
            if "touch" in m:
                self.page.touch(bool(m["touch"]))
        except (ValueError, TypeError):
            return self.send_error(400)
        self.answer(b"", "text/plain")

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'")
        self.end_headers()
        self.wfile.write(body)

    def events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        last = None
        try:
            while True:
                with self.page.changed:
                    self.page.changed.wait_for(lambda: self.page.shown is not last, timeout=10)
                    last = self.page.shown
                self.wfile.write(b"data: " + json.dumps(last).encode() + b"\n\n")
                time.sleep(0.03)  # the eyes move 50 times a second; 30 are enough to see
        except OSError:
            pass  # the browser has gone

    def log_message(self, *_):
        pass
