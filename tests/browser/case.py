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

# Names that try to be more than text.
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror="window.intruder=1">', "</script><script>window.intruder=1</script>",
           "<!--", "&lt;b&gt;", "{{data}}", "\u2028\u2029\u202e", "]]>", "a\tb\nc", "ein sehr langer Name, der nirgends hineinpasst, weil er kein Ende nimmt" * 2]

# Texts with too little contrast, and how much they have.
FAINT = """(() => { const rgb = c => c.match(/[\\d.]+/g).map((v, i) => (c.startsWith('color(') && i < 3 ? 255 : 1) * v), lum = c => { const [r, g, b] = rgb(c).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c; } return 'rgb(255, 255, 255)'; };
    return [...document.querySelectorAll('h1, p, td, th, dt, dd, a, summary, button:not(:disabled)')].filter(e => e.innerText && e.offsetWidth && !e.closest('.skip')).map(e => { const a = lum(getComputedStyle(e).color), b = lum(back(e)); return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.innerText]; }).filter(x => x[0] < 4.5); })()"""


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


def bank(folder):
    """Customers with an income and a city, and a model that refuses the poor of Rome: (data, model)."""
    rows = ["id,income,city,label"]
    for i in range(60):
        income, city = 12000 + 613 * i, "Milan" if i % 3 == 0 else "Rome"
        rows.append(f"C-{i},{income},{city},{'granted' if income > 30000 or city == 'Milan' else 'refused'}")
    tables = folder / "bank"
    tables.mkdir()
    (tables / "features.csv").write_text("\n".join(rows) + "\n")
    (tables / "edges.csv").write_text("source,target\n" + "".join(f"C-{i},C-{i + 1}\n" for i in range(0, 60, 2)))
    data, model = folder / "bank.safetensors", folder / "model.safetensors"
    combinex("data", "convert", tables, data, "--symmetric", "-q")
    combinex("train", data, "--train-share", 1, "--epochs", 400, "--seed", 1, "-q", "-o", model)
    return data, model


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
