// SPDX-License-Identifier: Apache-2.0
// run-charts.js: the small pictures of a run: histograms, and those in the table's cells.
"use strict";
const cbxRun = (() => {
  const {el, svg, count, short, ticks} = cbx;

  // ---- histograms

  // Edges of bins for sorted numbers: whole numbers one by one where they are few, powers where
  // they spread widely, and else equal steps.
  function bins(sorted, {whole, spread}) {
    const low = sorted[0], high = sorted[sorted.length - 1];
    if (whole && high - low < 24)
      return {edges: range(low, high + 2).map((x) => x - 0.5), labels: range(low, high + 1)};
    const median = quantile(sorted, 0.5);
    if (spread || (low > 0 && high > 8 * median && high > 100 * low)) {
      const positive = sorted.find((x) => x > 0) || 1, per = Math.log10(high / positive) > 3 ? 3 : 6;
      const from = Math.floor(Math.log10(positive) * per),
            to = Math.max(from + 1, Math.floor(Math.log10(high) * per) + 1);
      return {edges: range(from, to + 1).map((k) => Math.pow(10, k / per)), log: true};
    }
    const span = high - low || Math.abs(high) || 1, steps = ticks(0, span), step = (steps[1] || 1) / 5;
    const width = whole ? Math.max(1, Math.round(step)) : step, from = Math.floor(low / width),
          to = Math.floor(high / width) + 1;
    return {edges: range(from, to + 1).map((k) => k * width)};
  }
  const range = (a, b) => Array.from({length: Math.max(0, b - a)}, (_, i) => a + i);
  function quantile(sorted, q) {
    const at = (sorted.length - 1) * q, i = Math.floor(at);
    return sorted[i] + (sorted[Math.min(i + 1, sorted.length - 1)] - sorted[i]) * (at - i);
  }
  function tally(values, edges) {
    const counts = new Array(edges.length - 1).fill(0);
    for (const v of values) {
      let i = edges.findIndex((e) => e > v) - 1;
      if (i < 0) i = v >= edges[edges.length - 1] ? counts.length - 1 : 0;
      counts[i]++;
    }
    return counts;
  }

  // All values pale, and those kept in full colour. Returns {node, update(kept values)}.
  function histogram({title, key, values, whole, spread, unit, show = short}) {
    if (!values.length) return null;
    const sorted = values.slice().sort((a, b) => a - b), {edges, labels, log} = bins(sorted, {whole, spread});
    const width = cbx.narrow.matches ? 320 : 420, height = 190, left = 44, right = 10, top = 10, bottom = 34;
    const place = log ? Math.log10 : (x) => x, x0 = place(edges[0]), x1 = place(edges[edges.length - 1]);
    const X = (x) => left + ((place(x) - x0) / (x1 - x0)) * (width - left - right);
    const all = tally(values, edges), most = Math.max(...all);
    const Y = (n) => height - bottom - (n / most) * (height - top - bottom);
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      width: "100%",
      class: "chart histogram",
      role: "img",
      "data-chart": key
    });
    for (const t of ticks(0, most).filter(Number.isInteger))
      picture.append(
          svg("line", {x1: left, x2: width - right, y1: Y(t), y2: Y(t), class: "axis"}),
          svg("text", {x: left - 6, y: Y(t) + 4, "text-anchor": "end", class: "tick"}, count(t)));
    const text = (i) =>
        (labels ? labels[i] + " " + unit : show(edges[i]) + " to " + show(edges[i + 1])) + ": ";
    const bars = all.map((n, i) => {
      const a = X(edges[i]), wide = Math.max(1, X(edges[i + 1]) - a - 1);
      const bar = (css) => svg("rect", {
        x: a.toFixed(1),
        width: wide.toFixed(1),
        y: Y(n),
        height: height - bottom - Y(n),
        class: css,
        "data-count": n
      });
      const pale = bar("all"), full = bar("kept"), name = svg("title", {}, "");
      picture.append(
          svg("g", {}, name,
              svg("rect", {x: a, width: wide, y: top, height: height - top - bottom, class: "catch"}), pale,
              full));
      return {full, name};
    });
    axis(picture, {edges, labels, log, X, y: height - bottom + 16, show, x0, x1, left, right: width - right});
    picture.append(
        svg("text", {x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle", class: "tick"},
            unit));
    const note = el("p", {class: "note"});
    function update(kept) {
      const now = tally(kept, edges), order = kept.slice().sort((a, b) => a - b);
      bars.forEach(({full, name}, i) => {
        full.setAttribute("y", Y(now[i]));
        full.setAttribute("height", height - bottom - Y(now[i]));
        full.dataset.count = now[i];
        name.textContent = text(i) + count(now[i]) + (now[i] === all[i] ? "" : " of " + count(all[i]));
      });
      note.textContent = kept.length ? "Median " + show(quantile(order, 0.5)) + ", nine in ten at most " +
              show(order[Math.ceil(0.9 * order.length) - 1]) + ", largest " + show(order[order.length - 1]) +
              "." :
                                       "None of those chosen.";
      picture.setAttribute("aria-label", title + ", a histogram. " + note.textContent);
    }
    update(values);
    return {node: el("figure", {class: "figure"}, el("figcaption", {}, title), picture, note), update};
  }
  function axis(picture, {edges, labels, log, X, y, show, x0, x1, left, right}) {
    const write = (x, text) => picture.append(svg(
        "text", {x: Math.min(Math.max(X(x), left + 4), right - 8), y, "text-anchor": "middle", class: "tick"},
        text));
    if (labels)
      labels.filter((_, i) => i % Math.ceil(labels.length / (cbx.narrow.matches ? 8 : 12)) === 0)
          .forEach((n) => write(n, String(n)));
    else if (log)
      range(Math.ceil(x0 - 1e-9), Math.floor(x1 + 1e-9) + 1)
          .forEach((k) => write(Math.pow(10, k), show(Math.pow(10, k))));
    else
      ticks(edges[0], edges[edges.length - 1]).forEach((t) => write(t, show(t)));
  }

  // ---- cells

  // Two lines from 0 to 1: what the old class's and the new class's probabilities become.
  function shift(before, after) {
    const left = 5, wide = 90, X = (p) => left + p * wide;
    const line = (y, from, to, k) => {
      const look = cbx.looks(k), colour = look ? look.colour : "var(--edge)";
      return [
        svg("line", {x1: X(0), x2: X(1), y1: y, y2: y, class: "rail"}),
        svg("line", {x1: X(from), x2: X(to), y1: y, y2: y, stroke: colour, "stroke-width": 2.5}),
        svg("circle", {cx: X(from), cy: y, r: 2.6, class: "was"}),
        svg("g", {transform: `translate(${X(to).toFixed(1)} ${y})`},
            cbx.shape(look, 3.6, {fill: colour, class: "node-shape"}))
      ];
    };
    return svg(
        "svg", {width: 100, height: 24, viewBox: "0 0 100 24", class: "shift", "aria-hidden": "true"},
        line(6, before[0], before[1], before[2]), line(18, after[0], after[1], after[2]));
  }

  // Feature values and edges, one after the other; `full` is as long as the cell.
  function edits(features, edges, full) {
    const part = (css, n) => {
      const s = el("span", {class: css});
      s.style.width = (Math.min(1, n / full) * 100).toFixed(1) + "%";
      return s;
    };
    return el(
        "span", {class: "kinds" + (features + edges > full ? " over" : ""), "aria-hidden": "true"},
        part("features", features), part("edges", Math.max(0, Math.min(edges, full - features))));
  }
  // One share, in a table.
  function share(part, css, text) {
    const s = el("span", {class: css});
    s.style.width = (part * 100).toFixed(1) + "%";
    return el(
        "span", {class: "share"}, el("span", {class: "kinds", "aria-hidden": "true"}, s),
        el("span", {class: "muted"}, text));
  }

  return {histogram, shift, edits, share, quantile};
})();
