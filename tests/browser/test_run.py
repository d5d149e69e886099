# SPDX-License-Identifier: Apache-2.0
"""The page of many targets, in a browser: its table has what the results have, sorts and searches, and
what recurs is what a count of the results says."""
import collections
import json
import unittest

from case import FAINT, HOSTILE, PageCase, bank, combinex, page_data

ROWS = "[...document.querySelectorAll('tbody tr[data-row]')].map(e => Number(e.dataset.row))"
NUMBERS = "[...document.querySelectorAll('td[data-label=\"%s\"] [data-value]')].map(e => Number(e.dataset.value))"
SORT = "[...document.querySelectorAll('thead button')].find(b => b.textContent === '%s').click()"
BARS = "[...document.querySelectorAll('[data-chart=%s] .kept')].map(e => Number(e.dataset.count))"
SEARCH = "(() => { const s = document.getElementById('search'); s.value = %s; s.dispatchEvent(new Event('input')); })()"
PICK = "(() => { const s = document.getElementById('%s'); s.value = '%s'; s.dispatchEvent(new Event('change', {bubbles: true})); })()"


class Karate(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model, cls.path, lines = cls.folder / "model.safetensors", cls.folder / "run.html", cls.folder / "all.jsonl"
        cls.summary = cls.folder / "common.json"
        combinex("train", "karate", "--epochs", 200, "--seed", 1, "-q", "-o", cls.model)
        combinex("explain", "karate", cls.model, "--all", "--target", "any", "--json", "-o", lines, "--summary", cls.summary, "--html", cls.path)
        cls.lines = lines
        cls.results = [json.loads(line) for line in lines.read_text().splitlines()]

    def search(self, text):
        self.page.evaluate(SEARCH % json.dumps(text))

    def rows(self):
        """All rows, page by page."""
        self.page.evaluate("document.querySelector('[data-page=first]:enabled') && document.querySelector('[data-page=first]').click()")
        seen = self.page.evaluate(ROWS)
        while self.page.evaluate("!!document.querySelector('.pager:not([hidden]) [data-page=next]:enabled')"):
            self.page.evaluate("document.querySelector('[data-page=next]').click()")
            seen += self.page.evaluate(ROWS)
        return seen

    def test_every_target_is_a_row_with_the_numbers_of_its_result(self):
        self.open(self.path)
        self.assertEqual(self.page.evaluate(ROWS), list(range(25)))
        for label, expected in (("Changes", [len(r["edits"]) for r in self.results]), ("Margin", [r["margin"] for r in self.results]),
                                ("Time", [r["seconds"] for r in self.results]),
                                ("Before", [r["before"]["probabilities"][r["before"]["class"]] for r in self.results]),
                                ("After", [r["after"]["probabilities"][r["after"]["class"]] for r in self.results])):
            self.assertEqual(self.page.evaluate(NUMBERS % label), expected[:25], label)
        self.assertEqual(self.rows(), list(range(34)))
        self.assertEqual(self.page.problems(), [])

    def test_headings_sort_all_rows_not_only_those_shown(self):
        self.open(self.path)
        self.page.evaluate(SORT % "Margin")
        margins = sorted((r["margin"] for r in self.results), reverse=True)
        self.assertEqual(self.page.evaluate(NUMBERS % "Margin"), margins[:25])
        self.assertEqual(self.page.evaluate("[...document.querySelectorAll('th[aria-sort]')].map(e => e.textContent + e.getAttribute('aria-sort'))")[0], "Margindescending")
        self.page.evaluate(SORT % "Margin")
        self.assertEqual(self.page.evaluate(NUMBERS % "Margin"), margins[::-1][:25])

    def test_a_search_keeps_what_has_every_word_and_the_charts_follow(self):
        self.open(self.path)
        everything = self.page.evaluate(BARS % "edits")
        self.assertEqual(sum(everything), 34)

        def edits_name(r, node):
            return any(node in (e.get("node"), e.get("source"), e.get("target")) for e in r["edits"])

        self.search("Mr. Hi")  # node 0: a target, and a node in the edits of others
        expected = [r["node"] for r in self.results if r["node"] == 0 or edits_name(r, 0)]
        self.assertTrue(1 < len(expected) < 25)
        self.assertEqual(self.rows(), expected)
        counts = collections.Counter(len(r["edits"]) for r in self.results if r["node"] in expected)
        self.assertEqual([n for n in self.page.evaluate(BARS % "edits") if n], [counts[k] for k in sorted(counts)])
        self.assertIn(f"{len(expected)} of 34", self.page.evaluate("document.getElementById('kept').textContent"))
        self.search("optimal nothing-has-this-word")
        self.assertEqual(self.rows(), [])
        self.search("3")  # a number is a whole one: not 13 or 30
        self.assertIn(3, self.rows())
        self.assertTrue(all(r == 3 or " 3" in json.dumps(self.results[r]["edits"]) or "member 3\"" in json.dumps(self.results[r]["edits"]) or
                            3 in (self.results[r]["before"]["class"], self.results[r]["after"]["class"]) or edits_name(self.results[r], 3) for r in self.rows()))
        self.page.click("#clear")
        self.assertEqual(self.rows(), list(range(34)))
        self.assertEqual(self.page.evaluate(BARS % "edits"), everything)

    def test_pickers_keep_classes(self):
        self.open(self.path)
        for side in ("before", "after"):
            classes = {r[side]["class"] for r in self.results}
            self.assertGreater(len(classes), 1)
            for k in classes:
                self.page.evaluate(PICK % ("pick-" + side, k))
                self.assertEqual(self.rows(), [r["node"] for r in self.results if r[side]["class"] == k])
            self.page.evaluate(PICK % ("pick-" + side, ""))

    def test_histograms_count_every_target(self):
        self.open(self.path)
        edits = collections.Counter(len(r["edits"]) for r in self.results)
        low, high = min(edits), max(edits)
        self.assertEqual(self.page.evaluate(BARS % "edits"), [edits[k] for k in range(low, high + 1)])
        for chart in ("seconds", "margin"):
            self.assertEqual(sum(self.page.evaluate(BARS % chart)), 34)

    def test_a_row_opens_to_its_edits(self):
        self.open(self.path)
        self.page.click("#node-8")
        self.assertEqual(self.page.evaluate("document.getElementById('node-8').getAttribute('aria-expanded')"), "true")
        text = self.page.evaluate("document.querySelector('tr.more').innerText")
        self.assertEqual(self.page.evaluate("document.querySelectorAll('tr.more li').length"), len(self.results[8]["edits"]))
        self.assertIn("--node 8 --html node-8.html", " ".join(text.split()))
        shown = self.page.evaluate("[...document.querySelectorAll('tr.more dd [data-value]')].map(e => Number(e.dataset.value))")
        before, after = self.results[8]["before"], self.results[8]["after"]
        self.assertEqual(shown[:4], [side["probabilities"][k] for k in (before["class"], after["class"]) for side in (before, after)])
        self.page.evaluate(SORT % "Time")  # opened rows stay with theirs
        self.page.evaluate("document.querySelector('th[aria-sort]')")
        self.page.settle()
        if self.page.evaluate("!!document.getElementById('node-8')"):
            self.assertEqual(self.page.evaluate("document.querySelector('tr[data-row=\"8\"]').nextSibling.className"), "more")
        self.page.evaluate("location.hash = '#node-33'")
        self.page.settle()
        self.assertEqual(self.page.evaluate("document.getElementById('node-33').getAttribute('aria-expanded')"), "true")
        self.assertEqual(self.page.evaluate("document.activeElement.id"), "node-33")
        self.page.evaluate("document.activeElement.click()")
        self.assertEqual(self.page.evaluate("document.getElementById('node-33').getAttribute('aria-expanded')"), "false")

    def test_what_recurs_is_what_a_count_says(self):
        features, edges = collections.Counter(), collections.Counter()
        for r in self.results:
            features.update({e["feature"] for e in r["edits"] if e["op"] == "set_feature"})
            edges.update({tuple(sorted((e["source"], e["target"]))) for e in r["edits"] if e["op"] == "remove_edge"})
        common = page_data(self.path)["common"]
        self.assertEqual({f[0]: f[1] for f in common["features"]}, dict(sorted(features.items(), key=lambda x: (-x[1], x[0]))[:25]))
        self.assertEqual([e[3] for e in common["edges"]], sorted(edges.values(), reverse=True)[:25])
        self.assertEqual({tuple(e[:2]): e[3] for e in common["edges"]}.items() - edges.items(), set())
        told = json.loads(self.summary.read_text())
        self.assertEqual([c[0] for c in common["core"]], [f["feature"] for f in told["features"]])
        self.assertEqual(common["covered"], told["flips_covered"])
        self.open(self.path)
        core = self.page.evaluate("document.getElementById('core').textContent")
        self.assertEqual(core.count("\u201c"), len(told["features"]))
        for feature in told["features"]:
            self.assertIn(f"\u201c{feature['name']}\u201d", core)
        self.assertEqual(self.page.evaluate(NUMBERS % "Flips")[:5], [n for _, n in features.most_common(5)])

    def test_it_is_the_same_page_from_the_results(self):
        again, alone = self.folder / "again.html", self.folder / "alone.html"
        combinex("report", self.lines, "karate", self.model, "-q", "-o", again)
        first = page_data(self.path)
        self.assertEqual(page_data(again), first)
        combinex("report", self.lines, "-q", "-o", alone)
        self.check_widths(alone)
        self.assertEqual(page_data(alone)["common"], first["common"])
        self.assertEqual(page_data(alone)["feature_names"], first["feature_names"])

    def test_what_was_not_found_or_not_asked_is_a_row_too(self):
        changed, path = self.folder / "changed.jsonl", self.folder / "changed.html"
        results = [dict(r) for r in self.results[:4]]
        for r, status in ((results[1], "skipped"), (results[2], "not_found")):
            r.update(status=status, reason="because " + status, edits=[], edges_removed=0, features_changed=0)
            for key in ("after", "margin", "cost", "robustness", "epoch", "loss", "certificate"):
                r.pop(key, None)
        changed.write_text("".join(json.dumps(r) + "\n" for r in results))
        combinex("report", changed, "-q", "-o", path)
        self.open(path)
        self.assertEqual(self.rows(), [0, 1, 2, 3])
        self.assertIn("2 of 3 nodes", self.page.evaluate("document.querySelector('.tiles').innerText"))
        self.page.evaluate(SORT % "Changes")
        self.assertEqual(set(self.rows()[2:]), {1, 2})  # nothing comes last, up or down
        self.page.click("#node-1")
        self.assertIn("because skipped", self.page.evaluate("document.querySelector('tr.more').innerText"))
        self.page.evaluate(PICK % ("pick-outcome", 1))
        self.assertEqual(self.rows(), [2])

    def test_time_that_was_up_shows_whatever_was_known_by_then(self):
        late, path = self.folder / "late.jsonl", self.folder / "late.html"
        results = [dict(r) for r in self.results[:3]]
        self.assertEqual(results[1]["status"], "found")
        results[1]["reason"] = "time ended the search"
        results[0] = {k: results[0][k] for k in ("node", "nodes", "edges", "features", "seconds", "version")}
        results[0].update(status="skipped", reason="too late", target="any", edits=[], edges_removed=0, features_changed=0)
        late.write_text("".join(json.dumps(r) + "\n" for r in results))
        combinex("report", late, "karate", self.model, "-q", "-o", path)
        self.open(path)
        self.assertEqual(self.rows(), [0, 1, 2])
        first = "document.querySelector('#node-0').closest('tr').innerText"
        self.assertIn("not known", self.page.evaluate(first))
        self.page.click("#node-1")
        said = self.page.evaluate("document.querySelector('tr.more').innerText")
        self.assertIn("time ended the search", said)
        self.assertNotIn("why not", said)

    def test_it_fits_narrow_and_wide_windows_in_both_themes_and_on_paper(self):
        self.check_widths(self.path)
        for dark in (False, True):
            self.page.emulate(dark=dark)
            self.open(self.path)
            self.page.click("#node-2")
            self.assertEqual(self.page.evaluate(FAINT), [])
        self.page.emulate(media="print", dark=True)
        self.page.open(self.path)
        self.assertEqual(self.page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertTrue(self.page.pdf().startswith(b"%PDF"))

    def test_keyboard_and_screen_reader(self):
        self.open(self.path)
        seen = []
        for _ in range(80):
            self.page.key("Tab")
            if self.page.evaluate("document.activeElement === document.body"):
                break
            seen.append(self.page.evaluate("document.activeElement.id || document.activeElement.textContent"))
            self.assertNotEqual(self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none", seen[-1])
        for wanted in ("theme", "search", "pick-before", "pick-after", "Margin", "node-0", "Next"):
            self.assertIn(wanted, seen)
        self.page.evaluate("document.getElementById('node-0').focus()")
        self.page.key("Enter")
        self.assertEqual(self.page.evaluate("document.getElementById('node-0').getAttribute('aria-expanded')"), "true")
        roles = collections.defaultdict(list)
        for node in self.page.send("Accessibility.getFullAXTree")["nodes"]:
            if not node.get("ignored"):
                roles[node["role"]["value"]].append(node.get("name", {}).get("value", ""))
        for role in ("button", "heading", "image", "region", "columnheader", "searchbox", "combobox"):
            self.assertTrue(roles[role] and all(roles[role]), (role, roles[role]))

    def test_names_are_text(self):
        data, model, path = self.folder / "<b>data<b>.safetensors", self.folder / "hostile.safetensors", self.folder / "hostile.html"
        combinex("data", "generate", "karate", "-q", "-o", data)
        (self.folder / "<b>data<b>.combinex.json").write_text(json.dumps({
            "name": HOSTILE[2], "class_names": [HOSTILE[k] + f" {k}" for k in range(4)],
            "feature_names": [HOSTILE[k % len(HOSTILE)] + f" {k}" for k in range(34)],
            "node_names": [HOSTILE[(k + 2) % len(HOSTILE)] + f" {k}" for k in range(34)]}))
        combinex("train", data, "--epochs", 200, "--seed", 1, "-q", "-o", model)
        combinex("explain", data, model, "--all", "--target", "any", "-q", "--html", path)
        self.check_widths(path)
        self.page.evaluate("document.querySelectorAll('.expand').forEach(e => e.click())")
        self.assertEqual(self.page.evaluate("document.querySelectorAll('tr.more').length"), 25)
        self.assertEqual(self.page.problems(), [])
        self.assertIsNone(self.page.evaluate("window.intruder"))
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img, iframe, b script, main script').length"), 0)
        text = self.page.evaluate("document.body.innerText")
        for k in range(2):
            self.assertIn(HOSTILE[k] + f" {k}", text)
        self.search("<script>alert(1)</script>")
        self.assertTrue(self.page.evaluate(ROWS))



class Bank(PageCase):
    """A table of customers with a group of columns, and a run over some of them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data, cls.model = bank(cls.folder)
        cls.lines, cls.path = cls.folder / "all.jsonl", cls.folder / "run.html"
        combinex("explain", cls.data, cls.model, "--node", "C-1", "--node", "C-2", "--features-to-vary", "city", "--own-features", "--keep-edges", "--json",
                 "-o", cls.lines, "--html", cls.path)

    def test_a_group_of_columns_is_one_change_in_counts_and_words(self):
        self.open(self.path)
        self.assertEqual(self.page.evaluate(NUMBERS % "Changes"), [1, 1])
        self.assertRegex(self.page.evaluate("document.querySelector('.tiles').innerText").lower(), r"changes, median\s+1\s+always")
        self.page.click("#node-1")
        self.assertEqual(self.page.evaluate("[...document.querySelectorAll('tr.more li')].map(e => e.innerText)"), ["city of C-1: Rome → Milan"])
        self.page.evaluate(SEARCH % json.dumps("Rome Milan"))
        self.assertEqual(self.page.evaluate(ROWS), [1, 2])

    def test_what_is_known_is_told_without_jargon(self):
        self.open(self.path)
        text = self.page.evaluate("document.body.innerText").lower()
        for word in ("irreducible", "log-odds", "certificate"):
            self.assertNotIn(word, text)
        self.assertRegex(text, "all needed|proved cheapest")


if __name__ == "__main__":
    unittest.main(verbosity=2)
