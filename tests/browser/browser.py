# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over a pipe with the DevTools protocol; standard library only.

    with Browser() as browser:
        page = browser.page(width=1600, height=900)
        page.open("report.html")
        assert page.evaluate("document.title") == "…"
        assert page.problems() == []

`problems` has every error on the console, every exception that nobody caught, and every request but
the one for the page itself: a page that is whole in one file makes none.
"""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

PATIENCE = 60  # seconds for one answer; tests may run beside others


def find_chromium():
    names = [os.environ.get("CBX_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"]
    return next((path for path in (shutil.which(name) for name in names if name) if path), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="combinex-browser-")
        self.pages = {}
        self.waiting = b""
        self.last_id = 0
        self.answers = {}
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()

        def wire():  # the browser listens on 3 and answers on 4
            high_in = fcntl.fcntl(to_child, fcntl.F_DUPFD, 20)
            high_out = fcntl.fcntl(from_child, fcntl.F_DUPFD, 20)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        flags = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--disable-extensions",
                 "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
                 "--hide-scrollbars", "--force-device-scale-factor=1", "--user-data-dir=" + self.folder]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # which Chromium refuses to have as root
        self.process = subprocess.Popen([find_chromium(), *flags, "about:blank"], preexec_fn=wire, pass_fds=(3, 4),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        os.close(to_child)
        os.close(from_child)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # a group of its own
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, method, session=None, **params):
        """Calls a method and returns its result."""
        self.last_id += 1
        number = self.last_id
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        self.wait(lambda: number in self.answers, method)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def wait(self, done, what):
        deadline = time.monotonic() + PATIENCE
        while not done():
            if not self.read(max(0, deadline - time.monotonic())):
                raise TimeoutError(f"the browser did not answer within {PATIENCE} s: {what}")

    def read(self, seconds):
        """Takes in what has come; False if nothing came in time."""
        if not select.select([self.read_end], [], [], seconds)[0]:
            return False
        chunk = os.read(self.read_end, 1 << 20)
        if not chunk:
            raise RuntimeError("the browser has ended")
        *whole, self.waiting = (self.waiting + chunk).split(b"\0")
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].heard(message["method"], message["params"])
        return True

    def page(self, width=1280, height=900):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.send(domain + ".enable")
        page.viewport(width, height)
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        self.address, self.loaded, self.errors, self.requests = None, False, [], []

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def heard(self, event, params):
        if event == "Page.loadEventFired":
            self.loaded = True
        elif event == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif event == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif event == "Network.requestWillBeSent" and params["request"]["url"] != self.address:
            self.requests.append(params["request"]["url"])

    def open(self, path):
        self.address = pathlib.Path(path).resolve().as_uri()
        self.loaded, self.errors, self.requests = False, [], []
        failure = self.send("Page.navigate", url=self.address).get("errorText")
        if failure:
            raise RuntimeError(f"{path}: {failure}")
        self.browser.wait(lambda: self.loaded, "loading " + str(path))
        self.settle()

    def settle(self):
        """Two frames drawn, and what was logged until then heard."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(0))))")

    def problems(self):
        self.settle()
        return ["error: " + e for e in self.errors] + ["request: " + r for r in self.requests]

    def evaluate(self, expression):
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def viewport(self, width, height, scale=1):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def emulate(self, media="", dark=None):
        scheme = [] if dark is None else [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", media=media, features=scheme)

    def key(self, key, code=None, shift=False):
        """A key down and up, such as "Tab", "Enter", " ", "ArrowLeft", "+"."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        text = "\r" if key == "Enter" else key if len(key) == 1 else None
        common = {"key": key, "code": code or ("Space" if key == " " else key), "modifiers": 8 if shift else 0,
                  "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def middle(self, selector):
        """Scrolls there; the middle of the element, in the window."""
        found = self.evaluate("(() => { const e = document.querySelector(%s); if (!e) return null;"
                              "e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect();"
                              "return [r.x + r.width / 2, r.y + r.height / 2]; })()" % json.dumps(selector))
        if found is None:
            raise LookupError(f"nothing on the page is '{selector}'")
        return found

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, selector):
        self.mouse("mouseMoved", *self.middle(selector))

    def click(self, selector):
        x, y = self.middle(selector)
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", buttons=1, clickCount=1)

    def screenshot(self, path, whole=False):
        more = {}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True, "clip": {**{k: size[k] for k in ("x", "y", "width", "height")}, "scale": 1}}
        data = self.send("Page.captureScreenshot", format="png", **more)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    # ---- what is wrong with the layout

    def overflow(self):
        """Elements that stick out of the window sideways though nothing they are in scrolls."""
        return self.evaluate("""(() => {
            const wide = document.documentElement.clientWidth, out = [];
            if (document.documentElement.scrollWidth > wide) out.push("the page is " + document.documentElement.scrollWidth + " px wide");
            for (const e of document.querySelectorAll("body *")) {
                const r = e.getBoundingClientRect();
                if (!r.width || !r.height || e.closest(".unseen, .skip") || (e.ownerSVGElement && e.ownerSVGElement !== e)) continue;
                if (r.right <= wide + 1 && r.left >= -1) continue;
                let inside = false;
                for (let p = e.parentElement; p; p = p.parentElement)
                    if (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(p).overflowX)) inside = true;
                if (!inside) out.push(e.tagName + "." + e.getAttribute("class") + " from " + Math.round(r.left) + " to " + Math.round(r.right));
            }
            return out;
        })()""")
