#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/reports.md anew: scripts/screenshots.py [build/combinex]

It asks the command for pages about the karate club and photographs them with a headless Chromium, which
tests/browser/browser.py drives."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
sys.dont_write_bytecode = True
from browser import Browser  # noqa: E402

MOST = 150_000  # bytes of a picture


def main():
    command = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "combinex").resolve())
    images = ROOT / "docs" / "images"
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:

        def combinex(*words):
            subprocess.run([command, *map(str, words)], cwd=folder, check=True, stdout=subprocess.DEVNULL)

        page = browser.page()

        def shot(name, path, width, height, dark=False, before=""):
            page.emulate(dark=dark)
            page.viewport(width, height)
            page.open(path)
            if before:
                page.evaluate(before)
            page.settle()
            page.screenshot(images / name)

        combinex("train", "karate", "--epochs", 200, "--seed", 1, "-o", "club.safetensors")
        ask = ["explain", "karate", "club.safetensors", "--node", 8, "--target", "any", "-q"]
        combinex(*ask, "--html", "node-8.html", "--svg", images / "explanation.svg")
        explanation = pathlib.Path(folder, "node-8.html")
        shot("explanation.png", explanation, 1120, 820)
        undo = "document.querySelector('[data-edit=\"1\"]').click(); document.querySelector('.columns').scrollIntoView()"
        shot("explanation-undone.png", explanation, 1120, 560, dark=True, before=undo)
        shot("explanation-phone.png", explanation, 360, 760)
        combinex("explain", "karate", "club.safetensors", "--all", "--target", "any", "-q", "-o", "/dev/null", "--html", "run.html")
        run = pathlib.Path(folder, "run.html")
        shot("run.png", run, 1120, 1000)
        shot("run-phone.png", run, 360, 760, dark=True, before="document.querySelector('.filters').scrollIntoView()")
        shot("run-common-edits.png", run, 1120, 640, dark=True, before="document.getElementById('core').closest('.card').scrollIntoView()")
        combinex("bench", "--data", "karate", "--models", "gcn,cheb", "--folds", 4, "--samples", 8, "--train-epochs", 200, "-q", "--out", "bench")
        bench = pathlib.Path(folder, "bench", "report.html")
        shot("bench.png", bench, 1280, 980)
        shot("bench-cell.png", bench, 1440, 520, before="document.getElementById('cell').scrollIntoView()")
        shot("bench-trade-off.png", bench, 1120, 560, dark=True, before="document.querySelector('[data-chart=trade-off]').closest('figure').scrollIntoView()")
    for picture in sorted(images.iterdir()):
        size = picture.stat().st_size
        print(f"{picture.relative_to(ROOT)}: {size:,} bytes")
        if size > MOST:
            sys.exit(f"{picture}: more than {MOST:,} bytes")


main()
