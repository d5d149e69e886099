// SPDX-License-Identifier: Apache-2.0
// bench-charts.js: ranks, bars with error bars, and the trade-off of a benchmark.
"use strict";
const cbxBench = (() => {
  const {data, el, svg, short, ticks, narrow} = cbx;

  const fixed = (x, digits = 3) => (x === null ? "n.d." : x.toFixed(digits).replace(/^-(0\.?0*)$/, "$1"));
  const pair = (mean, std) => fixed(mean) + (mean === null || std === null ? "" : " ± " + fixed(std));
  // Filled round marks and full bars are for COMBINEX, hollow square ones for the others.
  const isOurs = (name) => /^(combinex|minimal)/.test(name);
  const chart = (width, height, label, key) => svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width: "100%",
    class: "chart",
    role: "img",
    "aria-label": label,
    "data-chart": key
  });
  const text = (x, y, anchor, css, ...what) =>
      svg("text", {x, y, "text-anchor": anchor, class: css}, ...what);
  const line = (x1, y1, x2, y2, css) => svg("line", {x1, y1, x2, y2, class: css});
  const figure = (title, picture, note) =>
      el("figure", {class: "figure"}, el("figcaption", {}, title), picture,
         note ? el("p", {class: "note"}, note) : null);
  const mark = (x, y, ours) =>
      (ours ? svg("circle", {cx: x, cy: y, r: 5, class: "mark ours"}) :
              svg("rect", {x: x - 4.2, y: y - 4.2, width: 8.4, height: 8.4, class: "mark others"}));
  const NAMES = 118;  // room for the names of explainers

  // A scale from 1, the best, to the number of explainers, in the order of their ranks.
  function ranks(k) {
    const list = data.methods.filter((m) => m.ranks[k] !== null).sort((a, b) => a.ranks[k] - b.ranks[k]);
    if (!list.length) return null;
    const width = narrow.matches ? 330 : 420, step = 21, top = 24, height = top + list.length * step + 6,
          last = Math.max(2, data.methods.length);
    const X = (r) => NAMES + ((r - 1) / (last - 1)) * (width - NAMES - 40), m = data.measures[k];
    const picture = chart(
        width, height,
        m.title +
            ", mean ranks, best first: " + list.map((x) => x.name + " " + x.ranks[k].toFixed(1)).join(", "),
        "ranks-" + m.name);
    for (const t of ticks(1, last).filter((x) => Number.isInteger(x) && x > 1).concat(1))
      picture.append(
          line(X(t), top - 4, X(t), height - 6, "axis"), text(X(t), top - 9, "middle", "tick", String(t)));
    list.forEach((x, i) => {
      const y = top + 8 + i * step;
      picture.append(
          text(NAMES - 10, y + 4, "end", "name", x.name), mark(X(x.ranks[k]), y, isOurs(x.name)),
          text(X(x.ranks[k]) + 10, y + 4, "start", "tick", x.ranks[k].toFixed(1)));
    });
    return figure(m.title, picture);
  }

  // A bar for each explainer with the deviation over folds, and the published figure beside.
  function bars(cell, k) {
    const m = data.measures[k],
          rows = cell.lines.map((l) => ({name: data.methods[l.method].name, f: l.figures[k]}));
    const ends =
        rows.flatMap(
                ({f: [mean, std, published, deviation]}) =>
                    [mean === null ? [] : [mean - (std || 0), mean + (std || 0)],
                     published === null ? [] : [published - (deviation || 0), published + (deviation || 0)]])
            .flat();
    if (!ends.length) return null;
    const low = Math.min(0, ...ends), high = Math.max(0, ...ends), span = high - low || 1;
    const width = narrow.matches ? 330 : 420, step = 24, top = 6, height = top + rows.length * step + 24,
          left = NAMES, right = 62;
    const X = (v) => left + ((v - low) / span) * (width - left - right);
    const picture = chart(
        width, height,
        m.title + ": " +
            rows.map(
                    ({name, f}) => name + " " + pair(f[0], f[1]) +
                        (f[2] === null ? "" : ", published " + pair(f[2], f[3])))
                .join("; "),
        "bars-" + m.name);
    for (const t of ticks(low, high))
      picture.append(
          line(X(t), top, X(t), height - 20, "axis"), text(X(t), height - 6, "middle", "tick", short(t)));
    rows.forEach(({name, f: [mean, std, published, deviation]}, i) => {
      const y = top + i * step, middle = y + 8;
      picture.append(text(left - 10, y + 13, "end", "name", name));
      if (mean === null)
        picture.append(text(X(Math.max(low, 0)) + 5, y + 12, "start", "tick", "n.d."));
      else {
        picture.append(svg("rect", {
          x: Math.min(X(0), X(mean)),
          width: Math.max(1, Math.abs(X(mean) - X(0))),
          y: y + 2,
          height: 12,
          class: "amount " + (isOurs(name) ? "ours" : "others"),
          "data-value": mean
        }));
        if (std)
          picture.append(
              line(X(mean - std), middle, X(mean + std), middle, "whisker"),
              line(X(mean - std), middle - 4, X(mean - std), middle + 4, "whisker"),
              line(X(mean + std), middle - 4, X(mean + std), middle + 4, "whisker"));
        picture.append(text(width - 4, y + 12, "end", "tick", fixed(mean)));
      }
      if (published !== null) {
        const x = X(published), by = y + 18;
        if (deviation)
          picture.append(line(X(published - deviation), by, X(published + deviation), by, "published-line"));
        picture.append(svg("path", {
          d: `M${x} ${by - 4}L${x + 4} ${by}L${x} ${by + 4}L${x - 4} ${by}Z`,
          class: "published",
          "data-value": published
        }));
      }
    });
    picture.append(line(X(0), top, X(0), height - 20, "zero"));
    return figure(m.title + ", " + (m.higher ? "higher" : "lower") + " is better", picture);
  }

  // ---- validity against edits

  // Names beside their points, where there is room: the first place that is free.
  function label(picture, points, frame) {
    const taken = points.map(
        (p) =>
            (p.name ? {x0: p.x - 6, x1: p.x + 6, y0: p.y - 6, y1: p.y + 6} :
                      {x0: p.x - 84, x1: p.x + 40, y0: p.y - 8, y1: p.y + 8}));
    const hits = (b) => b.x0 < frame.x0 || b.x1 > frame.x1 || b.y0 < frame.y0 || b.y1 > frame.y1 ||
        taken.some((t) => t.x0 < b.x1 && b.x0 < t.x1 && t.y0 < b.y1 && b.y0 < t.y1);
    const tries = [[10, 0], [-10, 0]];
    for (let d = 14; d < 160; d += 14) tries.push([10, d], [10, -d], [-10, d], [-10, -d]);
    for (const p of points.filter((q) => q.name).sort((a, b) => b.x - a.x)) {
      const wide = p.name.length * 6.6;
      const at = tries
                     .map(([dx, dy]) => {
                       const x = p.x + dx, y = p.y + dy;
                       return {
                         x,
                         y,
                         left: dx < 0,
                         box: {x0: dx < 0 ? x - wide : x, x1: dx < 0 ? x : x + wide, y0: y - 7, y1: y + 7}
                       };
                     })
                     .find((c) => !hits(c.box));
      if (!at) continue;
      taken.push(at.box);
      if (Math.abs(at.y - p.y) > 8) picture.append(line(p.x, p.y, at.x + (at.left ? 2 : -2), at.y, "leader"));
      picture.append(text(at.x, at.y + 4, at.left ? "end" : "start", "name", p.name));
    }
  }
  function tradeOff(cell) {
    const rows = cell.lines
                     .map((l) => ({
                            name: data.methods[l.method].name,
                            edits: l.edits[0],
                            validity: l.figures[0][0],
                            std: l.figures[0][1]
                          }))
                     .filter((r) => r.edits !== null && r.edits > 0 && r.validity !== null);
    if (!rows.length) return null;
    const wide = narrow.matches ? 330 : 760, height = 400, left = narrow.matches ? 40 : 52,
          right = narrow.matches ? 8 : 30, top = 54, bottom = 46;
    const least = Math.min(...rows.map((r) => r.edits)), most = Math.max(...rows.map((r) => r.edits)),
          log = most > 20 * least;
    const place = log ? Math.log10 : (x) => x, x0 = log ? Math.floor(Math.log10(least) * 2) / 2 : 0,
          x1 = log ? Math.max(x0 + 0.5, Math.ceil(Math.log10(most) * 2 + 0.1) / 2) : most * 1.15;
    const X = (e) => left + ((place(e) - x0) / (x1 - x0)) * (wide - left - right),
          Y = (v) => height - bottom - v * (height - top - bottom);
    const picture = chart(
        wide, height,
        "Validity against number of edits: " +
            rows.map((r) => r.name + " " + fixed(r.validity) + " with " + short(r.edits) + " edits")
                .join("; "),
        "trade-off");
    for (const t of [0, 0.25, 0.5, 0.75, 1])
      picture.append(
          line(left, Y(t), wide - right, Y(t), "axis"), text(left - 8, Y(t) + 4, "end", "tick", String(t)));
    const at = log ?
        Array.from({length: Math.floor(x1) - Math.ceil(x0) + 1}, (_, i) => Math.pow(10, Math.ceil(x0) + i))
            .flatMap((p) => (x1 - x0 < 3 ? [p, 3 * p] : [p]))
            .filter((p) => place(p) <= x1) :
        ticks(0, x1);
    for (const t of narrow.matches && log ? at.filter((p) => Number.isInteger(Math.log10(p))) : at)
      picture.append(
          line(X(t), top, X(t), height - bottom, "axis"),
          text(Math.min(X(t), wide - 14), height - bottom + 17, "middle", "tick", short(t)));
    picture.append(
        text(
            (left + wide - right) / 2, height - 6, "middle", "tick",
            "edits of an answer, mean" + (log ? " (logarithmic)" : "")),
        text(left - (narrow.matches ? 34 : 40), top - 16, "start", "tick", "validity"),
        text(left + 22, top - 16, "start", "tick corner", "↖ better"));
    // those that no other beats in both
    const best = rows.filter(
                         (r) => !rows.some(
                             (o) => o !== r && o.edits <= r.edits && o.validity >= r.validity &&
                                 (o.edits < r.edits || o.validity > r.validity)))
                     .sort((a, b) => a.edits - b.edits);
    if (best.length > 1)
      picture.append(svg("path", {
        d: best.map((r, i) => (i ? `H${X(r.edits)}V${Y(r.validity)}` : `M${X(r.edits)} ${Y(r.validity)}`))
               .join(""),
        class: "frontier"
      }));
    const points = rows.map((r) => ({name: r.name, x: X(r.edits), y: Y(r.validity), r}));
    for (const p of points) {
      if (p.r.std)
        picture.append(line(
            p.x, Y(Math.min(1, p.r.validity + p.r.std)), p.x, Y(Math.max(0, p.r.validity - p.r.std)),
            "whisker"));
      const m = mark(p.x, p.y, isOurs(p.name));
      m.dataset.edits = p.r.edits;
      m.dataset.validity = p.r.validity;
      m.append(svg(
          "title", {}, p.name + ": validity " + fixed(p.r.validity) + ", " + short(p.r.edits) + " edits"));
      picture.append(m);
    }
    points.push({name: "", x: left + 44, y: top - 20});  // the corner's words
    label(picture, points, {x0: left + 2, x1: wide - 4, y0: 4, y1: height - bottom});
    const none = cell.lines.length - rows.length;
    return figure(
        "Validity against number of edits", picture,
        "Upper left is better. The dashed line joins those that no other beats in both." +
            (none ? " " + cbx.counted(none, "explainer") + " without an answer " +
                     (none === 1 ? "is" : "are") + " not shown." :
                    ""));
  }

  return {ranks, bars, tradeOff, pair, fixed, isOurs};
})();
