# SPDX-License-Identifier: Apache-2.0
"""The page of an explanation, in a browser: it loads, every switch does what it says, and every number
is the one that the JSON, or another run of the model, has."""
import itertools
import json
import math
import re
import shlex
import unittest
import xml.etree.ElementTree as xml

from case import FAINT, HOSTILE, SHARED, PageCase, bank, combinex, page_data

AFTER = "[...document.querySelectorAll('.after-value')].map(e => e.firstChild ? Number(e.firstChild.dataset.value) : null)"
BEFORE = "[...document.querySelectorAll('.before-value')].map(e => Number(e.firstChild.dataset.value))"
POINTS = "[...document.querySelectorAll('[data-panel=after] .node')].map(e => e.getAttribute('transform'))"


def is_near(got, expected):
    return len(got) == len(expected) and all(abs(a - b) < 2e-6 for a, b in zip(got, expected))


class Karate(PageCase):
    """Member 8 of the karate club: two edges, and any class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = cls.folder / "model.safetensors"
        combinex("train", "karate", "--epochs", 200, "--seed", 1, "-q", "-o", cls.model)
        cls.path = cls.folder / "node.html"
        cls.ask = ["explain", "karate", cls.model, "--node", 8, "--target", "any"]
        cls.result = json.loads(combinex(*cls.ask, "--json", "--html", cls.path))
        cls.explained = page_data(cls.path)

    def model_says(self, edits):
        """The model's answer with these edits made, by other commands than the page was made with."""
        if not edits:
            edited = "karate"
        else:
            (self.folder / "some.jsonl").write_text(json.dumps({**self.result, "edits": edits}) + "\n")
            edited = self.folder / "edited.safetensors"
            combinex("apply", "karate", self.folder / "some.jsonl", "-q", "-o", edited)
        line = json.loads(combinex("predict", edited, self.model, "--json", "--node", 8))
        return [math.exp(p) for p in line["log_probs"]]

    def test_it_shows_the_numbers_of_the_result(self):
        self.open(self.path)
        self.assertEqual(self.page.evaluate(BEFORE), self.result["before"]["probabilities"])
        self.assertEqual(self.page.evaluate(AFTER), self.result["after"]["probabilities"])
        shown = {k: v for k, v in self.explained["answers"][0]["result"].items() if k != "seconds"}
        self.assertEqual(shown, {k: v for k, v in self.result.items() if k not in ("edits", "seconds")})
        influence = self.page.evaluate("[...document.querySelectorAll('td[data-label=Influence] [data-value]')].map(e => Number(e.dataset.value))")
        self.assertEqual(influence, [e["influence"] for e in self.result["edits"]])
        self.assertEqual(self.page.evaluate("document.querySelector('h1').innerText"), "member 8: community 0, would be community 1")
        text = self.page.evaluate("document.body.innerText")
        for part in ("data: karate", "Each change is needed", "remove edge member 32 – member 8"):
            self.assertIn(part, text)

    def test_every_combination_of_switches_shows_what_the_model_says_then(self):
        edits = self.result["edits"]
        self.assertEqual(len(edits), 2)
        self.open(self.path)
        on = [True] * len(edits)
        for wanted in itertools.product([False, True], repeat=len(edits)):
            for i in range(len(edits)):
                if on[i] != wanted[i]:
                    self.page.click(f'.switch[data-edit="{i}"]')
                    on[i] = wanted[i]
            expected = self.model_says([e for e, keep in zip(edits, wanted) if keep])
            shown = self.page.evaluate(AFTER)
            self.assertTrue(is_near(shown, expected), (wanted, shown, expected))
            best = max(range(len(expected)), key=lambda k: expected[k])
            verdict = self.page.evaluate("document.getElementById('verdict').innerText")
            self.assertIn(f"community {best} with probability", verdict)
            self.assertEqual("does not flip" in verdict, best == self.result["before"]["class"])
            self.assertEqual(self.page.evaluate("document.querySelector('[data-panel=after] .target').dataset.class"), str(best))
            self.assertEqual(self.page.evaluate("document.querySelectorAll('[data-panel=after] .gone').length"), sum(wanted))
            self.assertEqual(self.page.evaluate("document.querySelectorAll('[data-panel=before] .removed').length"), 2)
        self.page.click(".switch[data-edit='0']")
        self.page.click("#all-on")
        self.assertEqual(self.page.evaluate(AFTER), self.result["after"]["probabilities"])
        self.assertEqual(self.page.problems(), [])

    def test_without_it_is_the_probability_with_one_edit_undone(self):
        self.open(self.path)
        shown = self.page.evaluate("[...document.querySelectorAll('td[data-label=\"Without it\"] [data-value]')].map(e => Number(e.dataset.value))")
        edits, to = self.result["edits"], self.result["after"]["class"]
        expected = [self.model_says(edits[:i] + edits[i + 1:])[to] for i in range(len(edits))]
        self.assertTrue(is_near(shown, expected), (shown, expected))

    def test_nodes_have_the_classes_that_the_model_predicts(self):
        predicted = [json.loads(line)["class"] for line in combinex("predict", "karate", self.model, "--json", "--all").splitlines()]
        combinex("explain", "karate", self.model, "--node", 8, "--target", "any", "--json", "-o", self.folder / "one.jsonl")
        combinex("apply", "karate", self.folder / "one.jsonl", "-q", "-o", self.folder / "after.safetensors")
        after = [json.loads(line)["class"] for line in combinex("predict", self.folder / "after.safetensors", self.model, "--json", "--all").splitlines()]
        self.open(self.path)
        for panel, classes in (("before", predicted), ("after", after)):
            shown = self.page.evaluate(f"[...document.querySelectorAll('[data-panel={panel}] .node')].map(e => [Number(e.dataset.id), Number(e.dataset.class)])")
            self.assertEqual(len(shown), 34)
            for node, k in shown:
                self.assertEqual(k, classes[node], (panel, node))

    def test_both_panels_have_the_same_places(self):
        self.open(self.path)
        before = self.page.evaluate(POINTS.replace("after", "before"))
        self.assertEqual(before, self.page.evaluate(POINTS))
        self.assertEqual(len(set(before)), 34)

    def test_views_zoom_and_drag_change_the_picture(self):
        self.open(self.path, 1600)
        shown = "[...document.querySelectorAll('.panel')].filter(e => !e.hidden).map(e => e.dataset.panel).join()"
        for view, panels in (("before", "before"), ("after", "after"), ("both", "before,after")):
            self.page.click(f"[data-view={view}]")
            self.assertEqual(self.page.evaluate(shown), panels)
        start = self.page.evaluate(POINTS)
        self.page.click("[data-zoom=in]")
        closer = self.page.evaluate(POINTS)
        self.assertNotEqual(start, closer)
        self.page.click("[data-zoom=out]")
        self.assertEqual(self.page.evaluate(POINTS), start)
        x, y = self.page.middle("[data-panel=after] .graph")
        self.page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
        self.assertEqual(self.page.evaluate(POINTS), start)  # the page scrolls: nobody has clicked the picture
        x, y = self.page.middle("[data-panel=after] .graph")
        self.page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.page.mouse("mouseMoved", x + 40, y + 10, button="left", buttons=1)
        self.page.mouse("mouseReleased", x + 40, y + 10, button="left", clickCount=1)
        moved = self.page.evaluate(POINTS)
        self.assertNotEqual(moved, start)
        self.page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
        self.page.settle()
        self.assertNotEqual(self.page.evaluate(POINTS), moved)
        self.page.click("[data-zoom=reset]")
        self.assertEqual(self.page.evaluate(POINTS), start)

    def test_pointing_at_a_node_tells_its_features_and_probabilities(self):
        self.open(self.path)
        self.page.hover("[data-panel=before] [data-id='33']")
        details = self.page.evaluate("document.getElementById('details').innerText")
        for part in ("John A", "is member 33", "before", "after", "community 0", "remove edge John A – member 8"):
            self.assertIn(part, details)
        line = json.loads(combinex("predict", "karate", self.model, "--json", "--node", 33))
        shown = self.page.evaluate("[...document.querySelectorAll('#details dd')[0].querySelectorAll('[data-value]')].map(e => Number(e.dataset.value))")
        self.assertTrue(is_near(shown, sorted((math.exp(p) for p in line["log_probs"]), reverse=True)), shown)

    def test_everything_is_reached_and_done_with_the_keyboard(self):
        self.open(self.path)
        seen = []
        for _ in range(60):
            self.page.key("Tab")
            where = self.page.evaluate("(e => e === document.body ? null : e.id || e.dataset.view || e.dataset.zoom || (e.dataset.edit !== undefined && 'edit ' + e.dataset.edit) || (e.closest('.panel') && 'graph ' + e.closest('.panel').dataset.panel) || e.className || e.tagName)(document.activeElement)")
            outline = self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            if where is None:
                break
            self.assertNotEqual(outline, "none", where)  # one sees where one is
            seen.append(where)
        for wanted in ("theme", "both", "before", "after", "in", "out", "reset", "graph before", "graph after", "edit 0", "edit 1", "command"):
            self.assertIn(wanted, seen)
        self.assertEqual(seen[0], "skip")
        self.page.evaluate("document.querySelector('[data-edit=\"1\"]').focus()")
        self.page.key(" ")
        self.assertTrue(is_near(self.page.evaluate(AFTER), self.model_says(self.result["edits"][:1])))
        self.assertIn("1 edit undone", self.page.evaluate("document.getElementById('said').textContent"))
        self.page.evaluate("document.querySelector('[data-panel=after] .graph').focus()")
        start = self.page.evaluate(POINTS)
        self.page.key("+")
        self.assertNotEqual(self.page.evaluate(POINTS), start)
        self.page.key("0")
        self.assertEqual(self.page.evaluate(POINTS), start)
        self.page.key("ArrowRight", shift=True)
        self.assertNotEqual(self.page.evaluate(POINTS), start)
        self.page.key("ArrowLeft")
        first = self.page.evaluate("document.querySelector('#details h3').textContent")
        self.page.key("ArrowLeft")
        self.assertNotEqual(self.page.evaluate("document.querySelector('#details h3').textContent"), first)

    def test_a_screen_reader_finds_names_for_everything(self):
        self.open(self.path)
        nodes = self.page.send("Accessibility.getFullAXTree")["nodes"]
        roles = {}
        for node in nodes:
            if not node.get("ignored"):
                role, name = node["role"]["value"], node.get("name", {}).get("value", "")
                roles.setdefault(role, []).append(name)
        for role in ("switch", "button", "heading", "application", "table", "region", "columnheader"):
            self.assertTrue(roles.get(role), (role, sorted(roles)))
            self.assertTrue(all(roles[role]), (role, roles[role]))
        self.assertIn("In force: remove edge John A – member 8", roles["switch"])

    def test_tables_sort(self):
        self.open(self.path)
        column = "[...document.querySelectorAll('td[data-label=\"Without it\"] [data-value]')].map(e => Number(e.dataset.value))"
        button = "[...document.querySelectorAll('thead button')].find(b => b.textContent === 'Without it').click()"
        self.page.evaluate(button)
        down = self.page.evaluate(column)
        self.assertEqual(down, sorted(down, reverse=True))
        self.page.evaluate(button)
        self.assertEqual(self.page.evaluate(column), sorted(down))
        self.page.click(".switch[data-edit='1']")  # still that of its edit
        self.assertTrue(is_near(self.page.evaluate(AFTER), self.model_says(self.result["edits"][:1])))

    def test_it_fits_narrow_and_wide_windows(self):
        self.check_widths(self.path)
        for width in (360, 1600):
            self.open(self.path, width)
            outside = self.page.evaluate("""[...document.querySelectorAll('.node-label')].filter(e => {
                const r = e.getBoundingClientRect(), f = e.ownerSVGElement.getBoundingClientRect();
                return r.left < f.left - 1 || r.right > f.right + 1 || r.top < f.top - 1 || r.bottom > f.bottom + 1; }).map(e => e.textContent)""")
            self.assertEqual(outside, [], width)
            overlapping = self.page.evaluate("""(() => { const cards = [...document.querySelectorAll('.card, .lead, .top, .bottom')].map(e => e.getBoundingClientRect());
                let n = 0; cards.forEach((a, i) => cards.forEach((b, k) => { if (i < k && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) n++; })); return n; })()""")
            self.assertEqual(overlapping, 0, width)
        columns = "new Set([...document.querySelectorAll('.panel')].map(e => Math.round(e.getBoundingClientRect().top))).size"
        self.assertEqual(self.page.evaluate(columns), 1)  # side by side
        self.open(self.path, 360)
        self.assertEqual(self.page.evaluate(columns), 2)

    def test_it_is_light_or_dark_as_the_system_says_and_as_its_button_says(self):
        colours = []
        for dark in (False, True):
            self.page.emulate(dark=dark)
            self.open(self.path)
            colours.append(self.page.evaluate("getComputedStyle(document.body).backgroundColor"))
            self.assertEqual(self.page.evaluate(FAINT), [])
        self.assertNotEqual(*colours)
        self.page.click("#theme")
        self.assertEqual(self.page.evaluate("getComputedStyle(document.body).backgroundColor"), colours[0])
        self.page.evaluate("localStorage.removeItem('combinex-theme')")

    def test_it_prints(self):
        self.page.emulate(media="print", dark=True)
        self.page.open(self.path)
        self.assertEqual(self.page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(self.page.evaluate("getComputedStyle(document.querySelector('.tools')).display"), "none")
        self.assertTrue(self.page.pdf().startswith(b"%PDF"))

    def test_its_policy_lets_nothing_else_run(self):
        self.open(self.path)
        self.page.evaluate("(() => { const s = document.createElement('script'); s.textContent = 'window.intruder = 1'; document.body.append(s); })()")
        self.assertIsNone(self.page.evaluate("window.intruder"))
        self.assertTrue(self.page.problems())
        self.page.evaluate("fetch('http://127.0.0.1:9/').catch(() => { window.refused = 1; })")
        self.page.settle()
        self.assertEqual(self.page.evaluate("window.refused"), 1)

    def test_the_command_makes_the_same_result(self):
        self.open(self.path)
        command = shlex.split(self.page.evaluate("document.getElementById('command').textContent"))
        self.assertEqual(command[0], "combinex")
        again = json.loads(combinex(*command[1:], "--json"))
        self.assertEqual({**again, "seconds": 0}, {**self.result, "seconds": 0})

    def test_the_command_has_rules_and_words_that_a_shell_would_split(self):
        model = self.folder / "it's a model.safetensors"
        model.write_bytes(self.model.read_bytes())
        path = self.folder / "rules.html"
        asked = ["explain", "karate", model, "--node", 8, "--target", "any", "--protected-edges", "8-33", "--keep", "connected", "--max-edits", 9, "--seed", 4]
        first = json.loads(combinex(*asked, "--json", "--html", path))
        self.open(path)
        command = shlex.split(self.page.evaluate("document.getElementById('command').textContent"))
        again = json.loads(combinex(*command[1:], "--json"))
        self.assertEqual({**again, "seconds": 0}, {**first, "seconds": 0})
        rules = self.page.evaluate("[...document.querySelectorAll('.settings')][0].innerText")
        for part in ("protected-edges", "8-33", "connected", "max-edits"):
            self.assertIn(part, rules)
        self.assertNotIn("seed", rules)

    def test_it_is_the_same_page_from_the_results(self):
        lines = self.folder / "lines.jsonl"
        lines.write_text(json.dumps(self.result) + "\n")
        again, short = self.folder / "again.html", self.folder / "short.html"
        combinex("report", lines, "karate", self.model, "-q", "-o", again)
        found = page_data(again)
        found["answers"][0]["result"]["seconds"] = self.explained["answers"][0]["result"]["seconds"]
        self.assertEqual(found, {k: v for k, v in self.explained.items() if k != "trace"})
        combinex("report", lines, "-q", "-o", short)
        self.check_widths(short)
        self.assertEqual(self.page.evaluate(AFTER), self.result["after"]["probabilities"])
        self.assertEqual(self.page.evaluate("document.querySelectorAll('[data-panel=after] .gone').length"), 2)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.switch').length"), 0)

    def test_several_answers_have_a_button_each(self):
        path = self.folder / "three.html"
        lines = [json.loads(line) for line in combinex(*self.ask, "--total-cfs", 3, "--diverse", "--json", "--html", path).splitlines()]
        self.assertEqual(len(lines), 3)
        self.open(path)
        for i, line in enumerate(lines):
            self.page.evaluate(f"document.querySelectorAll('.lead button')[{i}].click()")
            self.assertEqual(self.page.evaluate(AFTER), line["after"]["probabilities"])
            self.assertEqual(self.page.evaluate("document.querySelectorAll('.switch').length"), len(line["edits"]))
            changed = len({e["node"] for e in line["edits"] if e["op"] == "set_feature"})
            self.assertEqual(self.page.evaluate("document.querySelectorAll('[data-panel=after] .ring-changed').length"), changed)
        self.assertEqual(self.page.problems(), [])

    def test_a_search_that_was_traced_shows_its_curves(self):
        path, trace = self.folder / "curves.html", self.folder / "trace.json"
        combinex(*self.ask, "--preset", "paper", "--trace", trace, "-q", "--html", path)
        epochs = json.loads(trace.read_text())["trace"]
        shown = page_data(path)["trace"]
        self.assertEqual(shown[-1][0], len(epochs) - 1)
        for row in shown:
            epoch = epochs[row[0]]
            for at, key in ((1, "loss"), (2, "ce"), (3, "edge_loss"), (4, "feature_loss"), (5, "alpha")):
                self.assertAlmostEqual(row[at], epoch[key], delta=1e-8 + 1e-7 * abs(epoch[key]))
        self.check_widths(path)
        self.assertGreaterEqual(self.page.evaluate("document.querySelectorAll('.chart path').length"), 4)

    def test_an_edge_that_goes_in_one_direction_stays_in_the_other(self):
        path = self.folder / "directed.html"
        result = json.loads(combinex(*self.ask, "--preset", "paper", "--policy", "edges", "--json", "--html", path))
        self.assertGreater(result["edges_removed"], 0)
        self.assertFalse(any(e["undirected"] for e in result["edits"]))
        self.open(path)
        shown = self.page.evaluate("""[...document.querySelectorAll('[data-panel=after] .edge.removed')].map(e => {
            const left = document.querySelector('[data-panel=after] .edge:not(.removed)[data-edge="' + e.dataset.edge + '"]');
            return [e.querySelectorAll('.arrow').length, left && left.querySelectorAll('.arrow').length]; })""")
        self.assertEqual(shown, [[1, 1]] * result["edges_removed"])
        self.page.click(".switch[data-edit='0']")
        whole = "document.querySelectorAll('[data-panel=after] .edge.removed').length"
        self.assertEqual(self.page.evaluate(whole), result["edges_removed"] - 1)

    def test_nothing_found_is_told_without_a_picture_of_after(self):
        path = self.folder / "none.html"
        result = json.loads(combinex(*self.ask, "--features-to-vary", "none", "--keep-edges", "--json", "--html", path))
        self.assertEqual(result["status"], "not_found")
        self.check_widths(path)
        self.assertIn("No counterfactual was found", self.page.evaluate("document.querySelector('.lead').innerText"))
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.switch, [data-panel=after]:not([hidden])').length"), 0)

    def test_pictures_are_whole_and_say_what_they_show(self):
        svg, png = self.folder / "node.svg", self.folder / "node.png"
        combinex(*self.ask, "-q", "--svg", svg)
        root = xml.parse(svg).getroot()
        name = "{http://www.w3.org/2000/svg}"
        self.assertIn("member 8", root.find(name + "title").text)
        self.assertIn("remove edge John A – member 8", root.find(name + "desc").text.replace("member 8 – John A", "John A – member 8"))
        dashed = [e for e in root.iter(name + "line") if e.get("stroke-dasharray")]
        self.assertEqual(len(dashed), 2 + 1)  # and one in the legend
        self.open(svg)
        self.assertLess(svg.stat().st_size, 100_000)
        done = combinex("report", self.lines(), "karate", self.model, "-q", "-o", self.folder / "again.svg")
        self.assertEqual(done, "")
        self.assertEqual((self.folder / "again.svg").read_bytes(), svg.read_bytes())
        try:
            combinex(*self.ask, "-q", "--png", png)
        except AssertionError as error:
            self.assertIn("cairo", str(error))  # built without
        else:
            self.assertTrue(png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n"))
            width = int(self.page.evaluate(f"Number(document.documentElement.getAttribute('width'))"))
            self.assertEqual(int.from_bytes(png.read_bytes()[16:20], "big"), 2 * width)

    def lines(self):
        path = self.folder / "lines.jsonl"
        path.write_text(json.dumps(self.result) + "\n")
        return path

    def test_it_is_small(self):
        self.assertLess(self.path.stat().st_size, 200_000)


class HostileNames(PageCase):
    """Names are text wherever they come from and whatever they look like."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data, cls.model = cls.folder / "<b>data<b>.safetensors", cls.folder / "model.safetensors"
        combinex("data", "generate", "karate", "-q", "-o", cls.data)
        (cls.folder / "<b>data<b>.combinex.json").write_text(json.dumps({
            "name": "<script>window.intruder=1</script>",
            "class_names": [HOSTILE[k] + f" {k}" for k in range(4)],
            "feature_names": [HOSTILE[k % len(HOSTILE)] + f" {k}" for k in range(34)],
            "node_names": [HOSTILE[(k + 2) % len(HOSTILE)] + f" {k}" for k in range(34)]}))
        combinex("train", cls.data, "--epochs", 200, "--seed", 1, "-q", "-o", cls.model)
        cls.ask = ["explain", cls.data, cls.model, "--node", 8, "--target", "any"]

    def check_page(self, path):
        self.check_widths(path)
        self.assertIsNone(self.page.evaluate("window.intruder"))
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img, iframe, b script, main script').length"), 0)
        return self.page.evaluate("document.body.innerText")

    def test_a_page_shows_them_as_text(self):
        for more in (["--total-cfs", 3, "--diverse"], ["--preset", "paper"]):
            path = self.folder / "page.html"
            combinex(*self.ask, *more, "-q", "--html", path)
            text = self.check_page(path)
            self.assertIn(HOSTILE[0] + " 0", text)
            self.assertIn(HOSTILE[1] + " 1", text)
            for node in range(34):
                self.page.evaluate(f"document.querySelector('[data-id=\"{node}\"]').dispatchEvent(new Event('pointerenter'))")
            self.assertEqual(self.page.problems(), [])
            self.assertIsNone(self.page.evaluate("window.intruder"))

    def test_results_with_them_are_shown_alone(self):
        lines, path = self.folder / "lines.jsonl", self.folder / "alone.html"
        combinex(*self.ask, "--json", "-o", lines)
        self.assertEqual(json.loads(lines.read_text())["before"]["name"], HOSTILE[0] + " 0")
        combinex("report", lines, "-q", "-o", path)
        self.assertIn(HOSTILE[0] + " 0", self.check_page(path))

    def test_a_result_file_may_hold_anything(self):
        lines, path = self.folder / "lines.jsonl", self.folder / "forged.html"
        result = json.loads(combinex(*self.ask, "--json"))
        result.update({"certificate": "optimal", "<b>": HOSTILE, "version": HOSTILE[1], "reason": HOSTILE[2]})
        result["options"]["target"] = "'; touch /tmp/x; '" + HOSTILE[2]
        lines.write_text(json.dumps(result) + "\n")
        combinex("report", lines, "-q", "-o", path)
        self.check_page(path)
        command = self.page.evaluate("document.getElementById('command').textContent")
        self.assertIn("'; touch /tmp/x; '" + HOSTILE[2], shlex.split(command))

    def test_pictures_show_them_as_text(self):
        svg = self.folder / "picture.svg"
        combinex(*self.ask, "-q", "--svg", svg)
        root = xml.parse(svg).getroot()
        tags = {e.tag.split("}")[1] for e in root.iter()}
        self.assertLessEqual(tags, {"svg", "title", "desc", "rect", "line", "circle", "polygon", "text"})
        self.assertIn(HOSTILE[0] + " 0", "".join(root.itertext()))
        self.open(svg)
        self.assertIsNone(self.page.evaluate("window.intruder"))


class Bank(PageCase):
    """A table of customers: names, a number, a group of columns."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data, cls.model = bank(cls.folder)

    def changes(self, features):
        path = self.folder / "customer.html"
        combinex("explain", self.data, self.model, "--node", "C-1", "--features-to-vary", features, "--own-features", "--keep-edges", "--html", path)
        self.page.viewport(1120, 820)
        self.open(path)
        return self.page.evaluate("[...document.querySelectorAll('.changes li')].map(e => e.innerText)")

    def test_a_group_of_columns_is_one_change(self):
        self.assertEqual(self.changes("city"), ["city: Rome → Milan"])
        self.assertEqual(self.page.evaluate("[...document.querySelectorAll('.what')].map(e => e.innerText)"), ["city: Rome → Milan"])
        self.page.click(".switch[data-edit='0']")  # both of its edits at once: the customer as it is
        self.assertEqual(self.page.evaluate(AFTER), self.page.evaluate(BEFORE))
        self.assertIn("1 edit undone", self.page.evaluate("document.getElementById('verdict').innerText"))
        self.assertIn("1 feature value set", self.page.evaluate("document.body.innerText"))

    def test_a_number_is_told_as_a_person_would(self):
        (change,) = self.changes("income")
        self.assertRegex(change, r"^income: [0-9,.]+ instead of 12,613$")

    def test_the_answer_is_seen_at_once_and_says_how_sure_it_is(self):
        self.changes("income")
        self.assertLess(self.page.evaluate("document.querySelector('.changes').getBoundingClientRect().bottom"), 400)
        self.assertRegex(self.page.evaluate("document.querySelector('.lead p').innerText"), r"The model says refused, .* % \(.*\)\. It says granted, .* % \(")

    def test_where_no_edge_goes_there_is_one_picture(self):
        self.changes("income")
        shown = "[...document.querySelectorAll('.panel')].filter(e => !e.hidden).map(e => e.dataset.panel).join()"
        self.assertEqual(self.page.evaluate(shown), "after")

    def test_no_card_has_a_void_below_it(self):
        self.changes("income")
        cards = "[...document.querySelectorAll('.columns .card')].map(e => [e.querySelector('h2').innerText, ...(b => [b.left, b.top, b.bottom])(e.getBoundingClientRect())])"
        at = {title: (left, top, bottom) for title, left, top, bottom in self.page.evaluate(cards)}
        for above, below in (("Class probabilities", "How good it is"), ("Edits", "Rules and settings")):
            self.assertEqual(at[above][0], at[below][0])
            self.assertLess(at[below][1] - at[above][2], 40)
        self.page.viewport(500, 820)
        order = [title for title, *_ in sorted(self.page.evaluate(cards), key=lambda card: card[2])]
        self.assertEqual(order, ["Class probabilities", "Edits", "How good it is", "Rules and settings"])

    def test_nothing_pointed_at_is_no_box(self):
        self.changes("income")
        box = "(e => [getComputedStyle(e).backgroundColor, e.getBoundingClientRect().height])(document.getElementById('details'))"
        colour, height = self.page.evaluate(box)
        self.assertEqual(colour, "rgba(0, 0, 0, 0)")
        self.assertLess(height, 60)


class Tangle(PageCase):
    """Two circles in which everybody knows everybody, and one who knows some of each: a picture of that says little unless a link goes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tables = cls.folder / "dense"
        tables.mkdir()
        half = range(20)
        people = [f"A-{i},{100 + i},yes" for i in half] + [f"B-{i},{10 + i},no" for i in half] + ["X,60,yes"]
        links = [f"{s}-{i},{s}-{k}" for s in "AB" for i in half for k in range(i)] + [f"X,A-{i}" for i in range(4)] + [f"X,B-{i}" for i in range(3)]
        (tables / "features.csv").write_text("\n".join(["id,income,label", *people]) + "\n")
        (tables / "edges.csv").write_text("\n".join(["source,target", *links]) + "\n")
        cls.data, cls.model = cls.folder / "dense.safetensors", cls.folder / "model.safetensors"
        combinex("data", "convert", tables, cls.data, "--symmetric", "-q")
        combinex("train", cls.data, "--model", "gcn", "--layers", 2, "--train-share", 1, "--epochs", 200, "--seed", 1, "-q", "-o", cls.model)

    def page_of(self, *rules):
        path = self.folder / "page.html"
        result = json.loads(combinex("explain", self.data, self.model, "--node", "X", *rules, "--json", "--html", path))
        self.open(path)
        return result

    def test_it_is_folded_and_drawn_when_it_is_opened(self):
        self.assertEqual(self.page_of("--keep-edges")["status"], "found")
        height = "document.getElementById('picture').getBoundingClientRect().height"
        self.assertLess(self.page.evaluate(height), 60)
        self.assertIn("41 nodes, and no link changes", self.page.evaluate("document.querySelector('#picture summary').innerText"))
        self.page.click("#picture > summary")
        self.page.settle()
        self.assertGreater(self.page.evaluate(height), 300)
        places = self.page.evaluate(POINTS)
        self.assertEqual((len(places), len(set(places))), (41, 41))
        self.assertEqual(self.page.problems(), [])

    def test_it_is_seen_where_a_link_goes(self):
        result = self.page_of("--features-to-vary", "none")
        self.assertGreater(result["edges_removed"], 0)
        self.assertGreater(self.page.evaluate("document.querySelector('[data-panel=after] .graph').getBoundingClientRect().height"), 200)
        self.assertFalse(self.page.evaluate("!!document.getElementById('picture')"))


class Molecule(PageCase):
    """Graphs whose nodes are atoms: rings, some of which have a nitrogen."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tu = cls.folder / "RING"
        tu.mkdir()
        atoms, edges, graph, labels = [], [], [], []
        for g in range(30):
            first, ring = len(atoms), 5 + g % 3
            atoms += [1 if g % 2 and k == 0 else 2 if k == 1 else 0 for k in range(ring)]
            graph += [g + 1] * ring
            for k in range(ring):
                a, b = first + k + 1, first + (k + 1) % ring + 1
                edges += [f"{a}, {b}", f"{b}, {a}"]
            labels.append(g % 2)
        for name, lines in (("A", edges), ("graph_indicator", graph), ("graph_labels", labels), ("node_labels", atoms)):
            (tu / f"RING_{name}.txt").write_text("".join(f"{x}\n" for x in lines))
        (cls.folder / "names.json").write_text(json.dumps({"feature_names": ["C", "N", "Cl"], "class_names": ["plain", "basic"]}))
        cls.data, cls.model, cls.path = cls.folder / "ring.safetensors", cls.folder / "model.safetensors", cls.folder / "ring.html"
        combinex("data", "convert", tu, cls.data, "--sidecar", cls.folder / "names.json", "-q")
        combinex("train", cls.data, "--model", "gin", "--layers", 2, "--hidden", 16, "--train-share", 1, "--epochs", 200, "--seed", 1, "-q", "-o", cls.model)
        cls.ask = ["explain", cls.data, cls.model, "--graph", 1, "--keep-edges", "--immutable-features", "Cl"]
        cls.said = combinex(*cls.ask)
        cls.result = json.loads(combinex(*cls.ask, "--json", "--html", cls.path, "--svg", cls.folder / "ring.svg"))

    LETTERS = "[...document.querySelectorAll('[data-panel=%s] .node')].map(e => [Number(e.dataset.id), e.querySelector('.node-symbol').textContent]).sort((a, b) => a[0] - b[0]).map(x => x[1]).join(' ')"

    def test_atoms_are_drawn_with_the_letters_of_their_elements(self):
        self.open(self.path)
        self.page.click("[data-view=both]")
        self.assertEqual(self.page.evaluate(self.LETTERS % "before"), "N Cl C C C C")
        after = self.page.evaluate(self.LETTERS % "after").split()
        expected = "N Cl C C C C".split()
        for edit in self.result["edits"]:
            if edit["to"] == 1:
                expected[edit["node"] - 5] = edit["name"]
        self.assertEqual(after, expected)
        self.assertNotEqual(" ".join(after), "N Cl C C C C")
        for k in range(self.page.evaluate("document.querySelectorAll('.switch').length")):
            self.page.click(f".switch[data-edit='{k}']")
        self.assertEqual(self.page.evaluate(self.LETTERS % "after"), "N Cl C C C C")

    def test_so_are_pictures(self):
        name = "{http://www.w3.org/2000/svg}"
        root = xml.parse(self.folder / "ring.svg").getroot()
        letters = [e.text for e in root.iter(name + "text") if e.text in ("C", "N", "Cl")]
        self.assertEqual(len(letters), 12)
        changes = sum(e["to"] == 1 for e in self.result["edits"])
        self.assertIn(f"with {changes} change", root.find(name + "title").text)

    def test_the_words_are_those_of_the_command_line(self):
        told = re.findall(r"replace the (?:C|N|Cl) at atom \d by (?:C|N)", self.said)
        self.assertGreater(len(told), 0)
        self.open(self.path)
        self.assertEqual(self.page.evaluate("[...document.querySelectorAll('.changes li')].map(e => e.innerText)"), told)

    def test_edges_are_bonds_and_nodes_atoms(self):
        for edits, pattern in (
            ("remove", r"remove the bond [CNl]+\d–[CNl]+\d"),
            ("remove-nodes", r"remove the atom [CNl]+\d"),
            ("add-nodes", r"add another [CNl]+ at atom \d"),
        ):
            with self.subTest(edits=edits):
                path = self.folder / f"{edits}.html"
                row = self.gets_atoms() if edits == "add-nodes" else 1
                ask = ["explain", self.data, self.model, "--graph", row, "--edits", edits, "--html", path]
                told = re.findall(pattern, combinex(*ask))
                self.assertGreater(len(told), 0)
                self.open(path)
                self.assertEqual(sorted(self.page.evaluate("[...document.querySelectorAll('.changes li')].map(e => e.innerText)")), sorted(told))

    def gets_atoms(self):
        """A molecule that new atoms flip."""
        lines = combinex("explain", self.data, self.model, "--all", "--edits", "add-nodes", "--json").splitlines()
        return next(answer["graph"] for answer in map(json.loads, lines) if answer["status"] == "found")

    def test_atoms_that_come_are_there_after_the_edits(self):
        path = self.folder / "new.html"
        ask = ["explain", self.data, self.model, "--graph", self.gets_atoms(), "--edits", "add-nodes", "--json", "--html", path]
        new = len(json.loads(combinex(*ask))["edits"])
        shapes = "document.querySelectorAll('[data-panel=%s] .node-shape:not(.lost)').length"
        rings = "document.querySelectorAll('[data-panel=%s] .ring-came%s').length"
        self.open(path)
        self.page.click("[data-view=both]")
        own = self.page.evaluate(shapes % "before")
        self.assertEqual(self.page.evaluate(rings % ("before", ".planned")), new)
        self.assertEqual(self.page.evaluate(shapes % "after"), own + new)
        self.assertEqual(self.page.evaluate(rings % ("after", ":not(.planned)")), new)
        self.page.click(".switch[data-edit='0']")
        self.assertEqual(self.page.evaluate(shapes % "after"), own + new - 1)


class Shared(PageCase):
    """Larger data, where it is."""

    def need(self, name):
        path = SHARED / "data" / (name + ".safetensors")
        if not path.exists():
            self.skipTest(f"{name} is not in the shared data")
        return path

    def test_cora_is_thinned_and_says_so(self):
        data, model, path = self.need("cora"), self.folder / "cora.model", self.folder / "cora.html"
        combinex("train", data, "--epochs", 30, "--seed", 1, "-q", "-o", model)
        result = json.loads(combinex("explain", data, model, "--node", 100, "--target", "any", "--preset", "paper", "--epochs", 40, "--json", "--html", path))
        self.assertEqual(result["status"], "found")
        self.assertGreater(len(result["edits"]), 100)
        self.assertLess(path.stat().st_size, 1_000_000)
        self.check_widths(path)
        text = self.page.evaluate("document.body.innerText")
        self.assertIn("of the %s nodes" % format(result["nodes"], ","), text)
        self.assertIn("most influential of %s edits are listed" % format(len(result["edits"]), ","), text)
        self.assertLessEqual(self.page.evaluate("document.querySelectorAll('[data-panel=before] .node').length"), 60)
        self.assertEqual(self.page.evaluate(AFTER), result["after"]["probabilities"])
        self.check_one_at_a_time(data, model, result, page_data(path)["answers"][0]["undo"]["free"])

    def check_one_at_a_time(self, data, model, result, free):
        """Past those that combine freely, undoing one puts all others in force."""
        self.assertLess(free, 60)
        for undone in ([0, 1], [60]):
            for i in undone:
                self.page.click(f".switch[data-edit='{i}']")
            lines, edited = self.folder / "some.jsonl", self.folder / "edited.safetensors"
            lines.write_text(json.dumps({**result, "edits": [e for i, e in enumerate(result["edits"]) if i not in undone]}) + "\n")
            combinex("apply", data, lines, "-q", "-o", edited)
            line = json.loads(combinex("predict", edited, model, "--json", "--node", 100))
            shown = self.page.evaluate(AFTER)
            self.assertTrue(is_near(shown, [math.exp(p) for p in line["log_probs"]]), (undone, shown))
            off = self.page.evaluate("[...document.querySelectorAll('.switch')].filter(s => !s.checked).map(s => Number(s.dataset.edit))")
            self.assertEqual(off, undone)

    def test_a_graph_is_explained_like_a_node(self):
        data, model, path = self.need("AIDS-graphs"), self.folder / "aids.model", self.folder / "aids.html"
        combinex("train", data, "--epochs", 5, "--seed", 1, "-q", "-o", model)
        result = json.loads(combinex("explain", data, model, "--graph", 5, "--target", "any", "--json", "--html", path))
        self.check_widths(path)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('[data-panel=after] .node').length"), result["nodes"])
        self.assertEqual(self.page.evaluate(AFTER), result["after"]["probabilities"])
        self.page.click(".switch[data-edit='0']")
        if len(result["edits"]) == 1:
            self.assertEqual(self.page.evaluate(AFTER), result["before"]["probabilities"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
