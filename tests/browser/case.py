# SPDX-License-Identifier: Apache-2.0
"""What the tests of pages share: a browser, a scratch folder and the combinex command."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from browser import Browser

COMBINEX = os.environ["COMBINEX"]
SHARED = pathlib.Path(os.environ.get("CBX_SHARED", "/nowhere"))
WIDTHS = (360, 1600)


def combinex(*words, fails=False):
    """Runs the command; what it wrote to standard output, or to the other where it must fail."""
    done = subprocess.run([COMBINEX, *map(str, words)], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"combinex {' '.join(map(str, words))}: status {done.returncode}\n{done.stderr}")
    return done.stderr if fails else done.stdout


def page_data(path):
    """The JSON in a page, found as a browser finds it: up to the first end of a script."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    start = text.index('<script type="application/json" id="data">')
    return json.loads(text[text.index(">", start) + 1:text.index("</script", start)])


class PageCase(unittest.TestCase):
    """One browser and one folder for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="combinex-pages-"))
        cls.browser = Browser()
        cls.page = cls.browser.page()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.page.emulate()
        self.page.viewport(1280, 900)

    def open(self, path, width=1280):
        """Opens a page that must be without fault."""
        self.page.viewport(width, 900)
        self.page.open(path)
        self.assertEqual(self.page.problems(), [])

    def check_widths(self, path):
        for width in WIDTHS:
            with self.subTest(width=width):
                self.open(path, width)
                self.assertEqual(self.page.overflow(), [])
