# SPDX-License-Identifier: Apache-2.0
"""The page of a benchmark, in a browser: its tables and charts have the figures of summary.json and
timing.csv, and its pickers show what they say."""
import collections
import csv
import json
import unittest

from case import FAINT, PageCase, combinex

MEASURES = {"Validity": "validity", "Fidelity": "fidelity", "Distribution distance": "distribution_distance", "Node sparsity": "node_sparsity",
            "Edge sparsity": "edge_sparsity", "Embedding distance": "embedding_distance"}
SMALL = ["bench", "--models", "gcn,cheb", "--explainers", "combinex-lin,random-features,random-edges,ego", "--folds", 2,
         "--samples", 5, "--train-epochs", 60, "--epochs", 100, "--jobs", 1, "-q"]
COLUMN = "[...document.querySelectorAll('#cell td[data-label=\"%s\"]')].map(e => { const v = e.querySelector('[data-%s]'); return v ? v.dataset.%s : null; })"
SORT = "[...document.querySelectorAll('#cell thead button')].find(b => b.textContent === '%s').click()"
PICK = "(() => { const s = document.getElementById('%s'); s.value = '%s'; s.dispatchEvent(new Event('change')); })()"


def numbers(values):
    return [None if v in (None, "null") else float(v) for v in values]


class Karate(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.out, cls.path = cls.folder / "out", cls.folder / "page.html"
        combinex(*SMALL, "--data", "karate", "--out", cls.out, "--html", cls.path)
        cls.summary = json.loads((cls.out / "summary.json").read_text())
        cls.cells = cls.summary["cells"]
        with open(cls.out / "timing.csv", newline="") as file:
            cls.timing = list(csv.DictReader(file))

    def test_the_page_is_that_of_the_folder(self):
        self.assertEqual(self.path.read_bytes(), (self.out / "report.html").read_bytes())
        self.assertIn("--dry-run has none", combinex(*SMALL, "--data", "karate", "--dry-run", "--html", self.path, fails=True))
        self.assertIn("cannot write there", combinex(*SMALL, "--data", "karate", "--out", self.folder / "x", "--html", self.folder / "no" / "page.html", fails=True))
        self.assertFalse((self.folder / "x").exists())

    def test_every_cell_has_the_figures_of_the_summary_and_the_published_ones(self):
        self.open(self.path)
        self.assertEqual(len(self.cells), 2)
        published = 0
        for i, cell in enumerate(self.cells):
            self.page.evaluate(PICK % ("pick-cell", i))
            self.assertEqual(self.page.evaluate("[...document.querySelectorAll('#cell td[data-label=Explainer]')].map(e => e.textContent)"), [e["explainer"] for e in cell["explainers"]])
            for title, name in MEASURES.items():
                self.assertEqual(numbers(self.page.evaluate(COLUMN % (title, "value", "value"))), [e[name]["mean"] for e in cell["explainers"]], title)
                shown = numbers(self.page.evaluate(COLUMN % (title, "published", "published")))
                self.assertEqual(shown, [e[name]["published"] for e in cell["explainers"]], title)
                published += sum(v is not None for v in shown)
                words = self.page.evaluate(f"[...document.querySelectorAll('#cell td[data-label=\"{title}\"]')].map(e => e.innerText)")
                for text, e in zip(words, cell["explainers"]):
                    verdict = e[name].get("verdict")  # in words and signs, not by colour alone
                    self.assertEqual([w for w in ("▲ better", "= equal", "▼ worse") if w in text], [{"better": "▲", "equal": "=", "worse": "▼"}[verdict] + " " + verdict] if verdict else [])
            self.assertEqual(numbers(self.page.evaluate(COLUMN % ("Edits", "value", "value"))), [e["edits"]["mean"] for e in cell["explainers"]])
            seconds = [float(t["seconds_mean"]) for t in self.timing if t["model"] == cell["model"]]
            shown = numbers(self.page.evaluate(COLUMN % ("Time", "value", "value")))
            self.assertEqual(len(shown), len(seconds))
            self.assertTrue(all(abs(a - b) <= 1e-4 * b for a, b in zip(shown, seconds)), (shown, seconds))
        self.assertGreater(published, 4)
        self.assertEqual(self.page.problems(), [])

    def test_it_opens_with_the_winners_of_the_summary(self):
        self.open(self.path)
        self.assertEqual(self.page.evaluate("document.querySelector('main section h2, main .card h2').textContent"), "Winners")
        for key, label in (("winner", "Winner"), ("second", "Second")):
            shown = self.page.evaluate(f"[...document.querySelectorAll('td[data-label={label}]')].map(e => e.textContent)")
            self.assertEqual(shown, [cell[key] or "nobody" for cell in self.cells])
            for title, of in (("validity", lambda e: e["validity"]["mean"]), ("edits", lambda e: e["edits"]["mean"])):
                values = numbers(self.page.evaluate(f"[...document.querySelectorAll('td[data-label=\"{label}’s {title}\"]')].map(e => {{ const v = e.querySelector('[data-value]'); return v ? v.dataset.value : null; }})"))
                self.assertEqual(values, [next((of(e) for e in cell["explainers"] if e["explainer"] == cell[key]), None) for cell in self.cells])
        most = collections.Counter(cell["winner"] for cell in self.cells).most_common(1)[0]
        self.assertIn(f"{most[0]}: {most[1]} cell", self.page.evaluate("document.getElementById('winners').textContent"))

    def test_tables_sort(self):
        self.open(self.path)
        values = [e["validity"]["mean"] for e in self.cells[0]["explainers"]]
        self.assertGreater(len(set(values)), 1)
        for expected in (sorted(values, reverse=True), sorted(values)):
            self.page.evaluate(SORT % "Validity")
            self.assertEqual(numbers(self.page.evaluate(COLUMN % ("Validity", "value", "value"))), expected)

    def test_bars_and_the_trade_off_have_the_figures(self):
        self.open(self.path)
        for i, cell in enumerate(self.cells):
            self.page.evaluate(PICK % ("pick-cell", i))
            for name in MEASURES.values():
                means = [e[name]["mean"] for e in cell["explainers"] if e[name]["mean"] is not None]
                published = [e[name]["published"] for e in cell["explainers"] if e[name]["published"] is not None]
                for css, expected in (("amount", means), ("published", published)):
                    self.assertEqual(numbers(self.page.evaluate(f"[...document.querySelectorAll('[data-chart=bars-{name}] .{css}')].map(e => e.dataset.value)")), expected, (name, css))
                whiskers = self.page.evaluate(f"document.querySelectorAll('[data-chart=bars-{name}] .whisker').length")
                self.assertEqual(whiskers, 3 * sum(1 for e in cell["explainers"] if e[name]["std"]), name)
            points = self.page.evaluate("[...document.querySelectorAll('[data-chart=trade-off] .mark')].map(e => [Number(e.dataset.edits), Number(e.dataset.validity)])")
            self.assertEqual(points, [[e["edits"]["mean"], e["validity"]["mean"]] for e in cell["explainers"] if e["edits"]["mean"]])

    def test_longer_bars_are_larger_figures(self):
        self.open(self.path)
        bars = self.page.evaluate("[...document.querySelectorAll('[data-chart=bars-validity] .amount')].map(e => [Number(e.dataset.value), e.getBoundingClientRect().width])")
        self.assertGreater(max(w for _, w in bars), 50)
        largest = max(bars)
        for value, width in bars:
            self.assertAlmostEqual(width, max(1, largest[1] * value / largest[0]), delta=1.5)

    def test_all_cells_stand_side_by_side(self):
        self.open(self.path)
        for k, (title, name) in enumerate(MEASURES.items()):
            self.page.evaluate(PICK % ("pick-measure", k))
            for cell in self.cells:
                label = f"{cell['data']} · {cell['model']}"
                shown = self.page.evaluate(f"[...document.querySelectorAll('td[data-label=\"{label}\"] [data-value], td[data-label=\"{label}\"] .figure-cell > span:not([data-value])')].map(e => e.dataset.value === undefined ? null : e.dataset.value)")
                self.assertEqual(numbers(shown), [e[name]["mean"] for e in cell["explainers"]], (title, label))

    def test_the_score_counts_verdicts(self):
        self.open(self.path)
        score = self.page.evaluate("[...document.querySelectorAll('td[data-label=Measure]')].map(e => [e.textContent, ...['better', 'equal', 'worse'].map(w => Number(e.parentElement.querySelector('[data-label=' + w + '] [data-value]').dataset.value))])")
        for title, *counts in score:
            verdicts = collections.Counter(e[MEASURES[title]].get("verdict") for c in self.cells for e in c["explainers"])
            self.assertEqual(counts, [verdicts["better"], verdicts["equal"], verdicts["worse"]], title)
        self.assertTrue(score)

    def test_ranks_are_those_of_the_picture(self):
        self.open(self.path)
        svg = (self.out / "ranks.svg").read_text()
        panels = svg.split("<g transform")[1:]
        for panel, name in zip(panels, MEASURES.values()):
            names = [t.split("<")[0] for t in panel.split('text-anchor="end">')[1:]]
            ranks = [float(t.split("<")[0]) for t in panel.split('font-size="9">')[1:]]
            shown = self.page.evaluate(f"[...document.querySelectorAll('[data-chart=ranks-{name}] .mark')].map(e => [e.previousSibling.textContent, Number(e.nextSibling.textContent)])")
            self.assertEqual([n for n, _ in shown], names, name)
            self.assertTrue(ranks and all(abs(r - q) < 0.11 for (_, r), q in zip(shown, ranks)), (shown, ranks))  # halves round either way

    def test_it_fits_narrow_and_wide_windows_in_both_themes_and_on_paper(self):
        self.check_widths(self.path)
        for dark in (False, True):
            self.page.emulate(dark=dark)
            self.open(self.path)
            self.assertEqual(self.page.evaluate(FAINT), [])
        for width in (360, 1600):
            self.open(self.path, width)
            outside = self.page.evaluate("""[...document.querySelectorAll('.chart text')].filter(e => { const r = e.getBoundingClientRect(), f = e.ownerSVGElement.getBoundingClientRect();
                return r.left < f.left - 1 || r.right > f.right + 1 || r.top < f.top - 1 || r.bottom > f.bottom + 1; }).map(e => e.textContent)""")
            self.assertEqual(outside, [], width)
        self.page.emulate(media="print", dark=True)
        self.page.open(self.path)
        self.assertTrue(self.page.pdf().startswith(b"%PDF"))

    def test_keyboard_and_screen_reader(self):
        self.open(self.path)
        seen = []
        for _ in range(90):
            self.page.key("Tab")
            if self.page.evaluate("document.activeElement === document.body"):
                break
            seen.append(self.page.evaluate("document.activeElement.id || document.activeElement.textContent"))
            self.assertNotEqual(self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none", seen[-1])
        for wanted in ("theme", "pick-measure", "pick-cell", "Next", "Validity"):
            self.assertIn(wanted, seen)
        roles = collections.defaultdict(list)
        for node in self.page.send("Accessibility.getFullAXTree")["nodes"]:
            if not node.get("ignored"):
                roles[node["role"]["value"]].append(node.get("name", {}).get("value", ""))
        for role in ("button", "heading", "image", "region", "columnheader", "combobox"):
            self.assertTrue(roles[role] and all(roles[role]), (role, roles[role]))
        self.page.evaluate("[...document.querySelectorAll('.tools button')].find(b => b.textContent === 'Next').focus()")
        self.page.key("Enter")
        self.assertEqual(self.page.evaluate("document.getElementById('pick-cell').value"), "1")

    def test_names_of_data_are_text(self):
        data = self.folder / "<img src=x onerror=window.intruder=1>.safetensors"
        combinex("data", "generate", "karate", "-q", "-o", data)
        out = self.folder / "hostile"
        combinex(*SMALL, "--explainers", "ego,random-edges", "--data", data, "--out", out)
        self.check_widths(out / "report.html")
        self.assertIsNone(self.page.evaluate("window.intruder"))
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertIn("<img src=x onerror=window.intruder=1> · gcn", self.page.evaluate("document.body.textContent"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
