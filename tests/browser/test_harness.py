# SPDX-License-Identifier: Apache-2.0
"""A test that cannot fail proves nothing: pages that are wrong on purpose, which must be told."""
import unittest

from case import PageCase


class BadPages(PageCase):
    def told(self, body, head=""):
        path = self.folder / "bad.html"
        path.write_text(f'<!doctype html><html lang="en"><meta charset="utf-8">{head}<title>bad</title>{body}')
        self.page.open(path)
        return self.page.problems()

    def test_a_page_without_fault_has_no_problems(self):
        self.assertEqual(self.told("<p>fine</p><script>document.body.append('too')</script>"), [])

    def test_an_image_from_elsewhere_is_told(self):
        self.assertIn("request: http://127.0.0.1:9/x.png", self.told('<img src="http://127.0.0.1:9/x.png" alt="">'))

    def test_a_neighbouring_file_is_told(self):
        (self.folder / "more.css").write_text("p { color: red }")
        told = self.told('<link rel="stylesheet" href="more.css">')
        self.assertTrue(any(t.startswith("request: file:") and t.endswith("more.css") for t in told), told)

    def test_fetch_and_beacons_are_told(self):
        told = self.told("<script>fetch('http://127.0.0.1:9/data').catch(() => 0)</script>")
        self.assertIn("request: http://127.0.0.1:9/data", told)

    def test_exceptions_and_console_errors_are_told(self):
        told = self.told("<script>console.error('oh', 7); setTimeout(() => { throw new Error('ah') })</script>")
        self.assertTrue(any("oh 7" in t for t in told), told)
        self.assertTrue(any("ah" in t for t in told), told)

    def test_what_a_policy_forbids_is_told(self):
        policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">"
        self.assertTrue(self.told("<script>1</script>", policy))

    def test_what_sticks_out_is_told(self):
        self.page.viewport(360, 800)
        self.told('<div style="width: 400px; height: 9px; background: red"></div>')
        self.assertTrue(self.page.overflow())
        self.told('<div style="overflow-x: auto"><div style="width: 400px; height: 9px"></div></div>')
        self.assertEqual(self.page.overflow(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
