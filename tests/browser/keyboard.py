#!/usr/bin/env python3
"""Goes through a report with the keyboard alone, in a real browser, and reads the tree that a screen reader is given.

    tests/browser/keyboard.py BROWSER PAGE

Fails where Tab does not reach a control, a link or a figure, where what has the focus does not show it or has no name,
where Enter or Space does not do what a click does, where headings skip a level, where a table, a figure or a landmark is
not what it should be to a screen reader, and where the page is wider than a telephone. Speaks the browser's own protocol by a pipe; needs nothing but the browser.
"""

import json
import os
import subprocess
import sys
import tempfile

# Of a long page so many stops are visited by Tab; all are looked at.
STOPS = 60

FOCUSABLE = """[...document.querySelectorAll('a[href],button,input,summary,[tabindex="0"]')]
    .filter(e => e.checkVisibility())"""


class Browser:
    """A page in a headless browser."""

    def __init__(self, program, profile):
        down, self.write = os.pipe()
        self.read, up = os.pipe()
        arguments = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            f"--user-data-dir={profile}", "--remote-debugging-pipe",
        ]
        # The browser reads what it is asked from descriptor 3, and answers on 4.
        command = ["sh", "-c", f'exec "$@" 3<&{down} 4>&{up}', "sh", *arguments]
        self.process = subprocess.Popen(command, pass_fds=(down, up), stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.rest, self.number, self.session = b"", 0, None

    def open(self, page):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Page.navigate", url=f"file://{page}")
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.read, 1 << 16)
            if not more:
                raise SystemExit("the browser has ended")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **parameters):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.write, json.dumps(asked).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def value(self, expression):
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise SystemExit(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                     text=text if kind == "keyDown" else "")

    def close(self):
        self.session = None
        self.ask("Browser.close")
        self.process.wait(timeout=30)


def reached(browser):
    """Tab goes through everything that can be used, in the order of the page, and is seen there."""
    found = []
    count = browser.value(f"(window.stops = {FOCUSABLE}).length")
    for place in range(min(count, STOPS)):
        browser.press("Tab", 9)
        at, outline, what = browser.value("""(e => [stops.indexOf(e), getComputedStyle(e).outlineStyle !== 'none'
            && parseFloat(getComputedStyle(e).outlineWidth) >= 2, e.outerHTML.slice(0, 90)])(document.activeElement)""")
        if at != place:
            found.append(f"Tab {place + 1} goes to {at}, {what}")
            break
        if not outline:
            found.append(f"the focus is not seen on {what}")
    return found


def operated(browser):
    """Enter or Space does what a click does."""
    found = []
    pressed = "document.activeElement.getAttribute('aria-pressed')"
    for what, focus, state in [
        ("a folded part", "document.querySelector('details.long > summary')", "document.activeElement.parentNode.open"),
        ("a figure's switch", "document.querySelector('figure .switches button')", pressed),
        ("the appendix", "document.querySelector('#appendix button')", pressed),
    ]:
        if not browser.value(f"!!{focus}"):
            found.append(f"{what} is not there")
            continue
        browser.value(f"{focus}.focus()")
        for key, code, text in [("Enter", 13, "\r"), (" ", 32, " ")]:
            before = browser.value(state)
            browser.press(key, code, text)
            if browser.value(state) == before:
                found.append(f"{what} does not answer to {key!r}")
    words = "[...document.querySelectorAll('figure .switches button')].find(b => b.textContent === 'points in words')"
    told = browser.value(f"(b => {{ if (!b) return 0; b.click(); let n = b.closest('figure').querySelectorAll("
                         f"'ul:not([hidden]) li').length; b.click(); return n }})({words})")
    if not told:
        found.append("no figure's points are told in words")
    return found


def read(browser):
    """What a screen reader is told."""
    found = []
    nodes = [node for node in browser.ask("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]

    def of(role):
        return [node for node in nodes if node.get("role", {}).get("value") == role]

    def name(node):
        return node.get("name", {}).get("value", "").strip()

    def has(node, prop):
        return next((p["value"].get("value") for p in node.get("properties", []) if p["name"] == prop), None)

    for role in ("banner", "main", "navigation", "contentinfo"):
        if len(of(role)) != 1:
            found.append(f"{len(of(role))} landmarks of the kind {role}")
    before = 0
    for heading in of("heading"):
        level = has(heading, "level")
        if level > before + 1:
            found.append(f"the heading {name(heading)!r} of level {level} comes after one of level {before}")
        before = level
    for role in ("heading", "link", "button", "image", "table", "columnheader", "rowheader", "searchbox"):
        unnamed = [node for node in of(role) if not name(node)]
        if unnamed:
            found.append(f"{len(unnamed)} of {len(of(role))} of the kind {role} have no name")
    # A figure without a description of its own has its name for one.
    undescribed = [node for node in of("image") if node.get("description", {}).get("value", "") in ("", name(node))]
    if undescribed:
        found.append(f"{len(undescribed)} of {len(of('image'))} figures have no description")
    for role in ("image", "table", "columnheader", "rowheader", "heading", "searchbox"):
        if not of(role):
            found.append(f"nothing of the kind {role}")
    return found


def narrow(browser):
    """On a telephone nothing but tables and figures is moved sideways, and these by themselves."""
    browser.ask("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    width = browser.value("document.documentElement.scrollWidth")
    return [] if width <= 390 else [f"the page is {width} pixels wide on a screen of 390"]


def main():
    program, page = sys.argv[1], os.path.realpath(sys.argv[2])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.open(page)
            found = reached(browser) + operated(browser)
            # Everything open, so that all of it is read.
            browser.value("document.querySelectorAll('details').forEach(part => { part.open = true })")
            found += read(browser) + narrow(browser)
        finally:
            browser.close()
    for wrong in found:
        print(f"keyboard and screen reader: {wrong}", file=sys.stderr)
    if not found:
        print("keyboard and screen reader: as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
