"""A headless Chromium that shows one page, driven over the DevTools protocol."""
import base64
import json
import pathlib
import subprocess
import tempfile
import time

from websockets.sync.client import connect


class Page:
    def __init__(self, program, url, width=1280, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="tcq_chromium_", ignore_cleanup_errors=True)
        # No sandbox: tests run as root in containers, and show one page of their own.
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-port=0", f"--user-data-dir={self.folder.name}",
             "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.count = 0
        port_file = pathlib.Path(self.folder.name, "DevToolsActivePort")
        wait(lambda: port_file.exists() and port_file.read_text().count("\n") >= 1, 60, "Chromium did not start")
        port, path = port_file.read_text().splitlines()[:2]
        self.socket = connect(f"ws://127.0.0.1:{port}{path}", max_size=None)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.open(url)

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            reply = json.loads(self.socket.recv(timeout=120))
            if reply.get("id") == self.count:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']['message']}")
                return reply["result"]

    def open(self, url):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        wait(lambda: self("document.body?.dataset.firstAnswerMs") is not None, 60, "the page gave no first answer")

    def __call__(self, script):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", script))
        return result["result"].get("value")

    def click(self, selector, x=0.5, y=0.5):
        box = self(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'nearest'}});"
                   "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()")
        at = {"x": box[0] + box[2] * x, "y": box[1] + box[3] * y}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **at)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def key(self, name, code=0):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if name == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code, **text)

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", format="png")
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def wait(ready, seconds, sentence):
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise RuntimeError(f"{sentence} in {seconds} s")
        time.sleep(0.02)
