// SPDX-License-Identifier: Apache-2.0
// common.js: what all pages share. Whatever comes from the data becomes text nodes and
// attributes of elements made here; no markup is ever parsed.
"use strict";
const cbx = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";

  // ---- elements

  // el("p", {class: "note"}, "text", el("b", {}, "more")). Keys that start with "on" are
  // listeners; true and false set or leave out; null children are left out.
  function fill(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on"))
        node.addEventListener(key.slice(2), value);
      else if (value === true)
        node.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined)
        node.setAttribute(key, value);
    }
    for (const child of children.flat(Infinity))
      if (child !== null && child !== undefined) node.append(child);
    return node;
  }
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
      fill(document.createElementNS(SVG, tag), attributes, children);
  const replace = (node, ...children) =>
      node.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));

  // A card with a heading, which names it for screen readers.
  let cards = 0;
  function card(title, ...children) {
    const id = "card-" + ++cards;
    return el("section", {class: "card", "aria-labelledby": id}, el("h2", {id}, title), ...children);
  }

  const say = (text) => {
    document.getElementById("said").textContent = text;
  };

  // ---- classes

  // A class's shape around 0, 0.
  function shape(look, r, attributes) {
    if (!look || !look.corners.length) return svg("circle", {r, ...attributes});
    return svg("path", {
      d: "M" + look.corners.map((c) => (c[0] * r).toFixed(2) + " " + (c[1] * r).toFixed(2)).join("L") + "Z",
      ...attributes
    });
  }
  const looks = (k) => (k === undefined || k === null ? null : data.classes[k]);
  function icon(k, size = 16) {
    const look = looks(k);
    return svg(
        "svg", {width: size, height: size, viewBox: "-8 -8 16 16", class: "icon", "aria-hidden": "true"},
        shape(look, 5.6, {class: "node-shape", fill: look ? look.colour : "var(--edge)"}));
  }

  // Charts are drawn for the window's width: letters in them keep their size.
  const narrow = matchMedia("(max-width: 640px)");

  // ---- numbers

  const count = (n) => Number(n).toLocaleString("en");
  // A node by its name, or "node 8" where it has only a number.
  const isNumber = (text) => /^\d+$/.test(String(text));
  const nodeName = (name) => (isNumber(name) ? "node " + name : name);
  const counted = (n, noun) => count(n) + " " + noun + (n === 1 ? "" : "s");
  function probability(p) {
    if (p === null || p === undefined) return "–";
    if (p > 0 && p < 0.001) return "<0.001";
    if (p < 1 && p > 0.999) return ">0.999";
    return p.toFixed(3);
  }
  const short = (x) =>
      (x === null || x === undefined                ? "–" :
           Number.isInteger(x) && Math.abs(x) < 1e6 ? count(x) :
                                                      String(Number(x.toPrecision(3))));
  function seconds(s) {
    const two = (x) => String(Number(x.toPrecision(2)));
    if (s < 1e-3) return two(s * 1e6) + " µs";
    if (s < 1) return two(s * 1e3) + " ms";
    return s < 120 ? two(s) + " s" : two(s / 60) + " min";
  }
  // ---- changes in words, as the command line has them

  // "city=Rome" of the group city is Rome.
  const member = (name, group) =>
      (group && name.startsWith(group + "=") ? name.slice(group.length + 1) : name);
  // A one-hot group that points elsewhere is one change. `owner` is "" where it is clear whose it is.
  function groupText(group, owner, off, on) {
    const what = group ? group + (owner ? " of " + owner : "") : owner;
    return (what ? what + ": " : "") + member(off, group) + " → " + member(on, group);
  }
  // Yes or no is not a number.
  function valueText(name, owner, from, to) {
    const binary = [from, to].every((v) => v === 0 || v === 1);
    const word = (v) => (binary ? (v ? "yes" : "no") : Number.isInteger(v) ? count(v) : short(v));
    return name + (owner ? " of " + owner : "") + ": " + word(to) + " instead of " + word(from);
  }
  // Edits, each a list of those that are one change: of one node and one group, of which one goes off.
  function together(edits, groupOf, isOff) {
    const met = new Map(), changes = [];
    edits.forEach((e, i) => {
      const group = groupOf(e), at = group === null ? undefined : met.get(group);
      if (at !== undefined && isOff(edits[changes[at][0]]) !== isOff(e)) {
        changes[at].push(i);
        met.delete(group);
      } else {
        if (group !== null) met.set(group, changes.length);
        changes.push([i]);
      }
    });
    return changes;
  }

  // A span that shows a number short and keeps it whole, for tests and for the curious.
  const exact = (value, text) => el("span", {"data-value": value, title: String(value)}, text);

  // ---- tables

  // columns: {label, value(row): what to sort by, show(row): node or text, right, fixed}
  // A heading is a button that sorts, unless the column is fixed. `stack`: in a narrow
  // window every row becomes a small block. `scroll`: long tables scroll in a frame. `page`:
  // so many rows at once, with buttons to go on. `keep`, later, says which rows are shown.
  function table({caption, columns, rows, sort, decorate, stack, scroll, page}) {
    const body = el("tbody"),
          pager = page ?
        el("div", {class: "tools pager", role: "group", "aria-label": "Pages of the table"}) :
        null;
    const heads = columns.map((c) => el("th", {scope: "col", class: c.right ? "right" : null}));
    const lines = rows.map((row, i) => ({row, i, line: null}));
    let ordered = lines, kept = lines, first = 0;
    function lineOf(l) {
      if (l.line) return l.line;
      l.line =
          el("tr", {},
             columns.map(
                 (c) =>
                     el("td", {class: c.right ? "right" : null, "data-label": c.label},
                        c.show ? c.show(l.row, l.i) : String(c.value(l.row)))));
      if (decorate) decorate(l.line, l.row, l.i);
      return l.line;
    }
    function draw(from) {
      first = Math.max(0, Math.min(from, kept.length - 1));
      body.replaceChildren(...kept.slice(first, page ? first + page : undefined).map(lineOf));
      if (pager) turn();
    }
    function turn() {
      const last = Math.min(first + page, kept.length);
      const button = (name, to, off) =>
          el("button", {
            type: "button",
            disabled: off,
            "data-page": name.toLowerCase(),
            onclick: () => {
              draw(to);
              (pager.querySelector("[data-page=" + name.toLowerCase() + "]:enabled") ||
               pager.querySelector("button:enabled"))
                  .focus();
              say("Rows " + (first + 1) + " to " + Math.min(first + page, kept.length));
            }
          },
             name);
      pager.hidden = kept.length <= page;
      replace(
          pager, button("First", 0, !first), button("Previous", first - page, !first),
          el("span", {class: "note"},
             count(kept.length ? first + 1 : 0) + "–" + count(last) + " of " + count(kept.length)),
          button("Next", first + page, last >= kept.length),
          button("Last", Math.floor((kept.length - 1) / page) * page, last >= kept.length));
    }
    let keeping = () => true;
    function keep(wanted) {
      keeping = wanted;
      kept = ordered.filter((l) => keeping(l.row, l.i));
      draw(0);
      return kept.map((l) => l.row);
    }
    // Turns to the page that has the row; its line, or null where it is not kept.
    function reveal(row) {
      const at = kept.findIndex((l) => l.row === row);
      if (at < 0) return null;
      draw(page ? Math.floor(at / page) * page : 0);
      return kept[at].line;
    }
    function order(k, down) {
      const value = columns[k].value;
      ordered = lines.slice().sort((a, b) => {
        const x = value(a.row), y = value(b.row);
        if (x === null || y === null) return (x === null) - (y === null);  // nothing comes last
        return (typeof x === "string" ? x.localeCompare(y, "en", {numeric: true}) : x - y) * (down ? -1 : 1);
      });
      heads.forEach(
          (h, i) =>
              (i === k ? h.setAttribute("aria-sort", down ? "descending" : "ascending") :
                         h.removeAttribute("aria-sort")));
      keep(keeping);
    }
    columns.forEach((c, k) => {
      if (c.fixed) {
        heads[k].append(c.label);
        return;
      }
      heads[k].append(
          el("button", {
            type: "button",
            onclick: () => {
              const now = heads[k].getAttribute("aria-sort");
              order(k, now ? now === "ascending" : !!c.right);  // numbers: largest first
              say("Sorted by " + c.label);
            }
          },
             c.label));
    });
    if (sort)
      order(sort.column, sort.down);
    else
      draw(0);
    const made =
        el("table", {class: stack ? "stack" : null}, caption ? el("caption", {}, caption) : null,
           el("thead", {}, el("tr", {}, heads)), body);
    const wide =
        el("div", {
          class: scroll ? "wide scroll" : "wide",
          tabindex: "0",
          role: "region",
          "aria-label": caption || "table"
        },
           made);
    return {node: pager ? el("div", {}, wide, pager) : wide, table: made, body, lines, keep, reveal};
  }

  // ---- bars: pairs of shares from 0 to 1, before and after

  // rows: {label: node or text, before, after}; `after` may be missing. Returns {node, update(afters)}.
  function pairBars(rows, names) {
    const afters = [];
    const node = el("div", {class: "bars", role: "table", "aria-label": names.join(" and ")});
    for (const row of rows) {
      const before = el("span"), after = el("span"), value = el("div", {class: "value after-value"});
      before.style.width = row.before * 100 + "%";
      node.append(el(
          "div", {class: "bar-row", role: "row", style: null},
          el("div", {class: "label", role: "rowheader"}, row.label),
          el("div", {class: "track", "aria-hidden": "true"}, el("div", {class: "bar before"}, before),
             el("div", {class: "bar after"}, after)),
          el("div", {class: "value", role: "cell"},
             el("div", {class: "muted before-value"}, exact(row.before, probability(row.before))), value)));
      afters.push({after, value});
    }
    function update(values) {
      afters.forEach((a, k) => {
        const p = values ? values[k] : null;
        a.after.style.width = (p || 0) * 100 + "%";
        replace(a.value, p === null ? "" : exact(p, probability(p)));
      });
    }
    update(rows.map((r) => (r.after === undefined ? null : r.after)));
    return {node, update};
  }

  // ---- line charts

  function niceStep(span) {
    const raw = span / 4, power = Math.pow(10, Math.floor(Math.log10(raw)));
    return power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw * 0.999);
  }
  function ticks(low, high) {
    const step = niceStep(high - low || 1), list = [];
    for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step)
      list.push(Number(t.toPrecision(12)));
    return list;
  }
  // series: {name, colour: a CSS colour, dash, points: [[x, y], …]}; marks: {x, label}
  function lineChart({title, series, marks, xLabel, yLabel, width = 560, height = 240}) {
    const all = series.flatMap((s) => s.points).filter((p) => Number.isFinite(p[1]));
    const xs = all.map((p) => p[0]), ys = all.map((p) => p[1]);
    let [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(0, ...ys), Math.max(...ys)];
    if (x1 === x0) x1 = x0 + 1;
    if (y1 === y0) y1 = y0 + 1;
    const left = 48, right = 12, top = 12, bottom = 34;
    const X = (x) => left + ((x - x0) / (x1 - x0)) * (width - left - right);
    const Y = (y) => height - bottom - ((y - y0) / (y1 - y0)) * (height - top - bottom);
    const node = svg(
        "svg",
        {viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": title, class: "chart"});
    for (const t of ticks(y0, y1))
      node.append(
          svg("line", {x1: left, x2: width - right, y1: Y(t), y2: Y(t), class: "axis"}),
          svg("text", {x: left - 6, y: Y(t) + 4, "text-anchor": "end", class: "tick"}, short(t)));
    for (const t of ticks(x0, x1))
      node.append(
          svg("text", {x: X(t), y: height - bottom + 15, "text-anchor": "middle", class: "tick"}, short(t)));
    if (xLabel)
      node.append(
          svg("text", {x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle", class: "tick"},
              xLabel));
    if (yLabel) node.append(svg("text", {x: 10, y: top + 4, class: "tick"}, yLabel));
    for (const m of marks || [])
      node.append(
          svg("line", {
            x1: X(m.x),
            x2: X(m.x),
            y1: top,
            y2: height - bottom,
            stroke: "var(--muted)",
            "stroke-dasharray": "2 3"
          }),
          svg("text", {
            x: X(m.x) + (m.x > (x0 + x1) / 2 ? -4 : 4),
            y: top + 9,
            "text-anchor": m.x > (x0 + x1) / 2 ? "end" : "start",
            class: "tick"
          },
              m.label));
    for (const s of series) {
      const d = s.points.filter((p) => Number.isFinite(p[1]))
                    .map((p, i) => (i ? "L" : "M") + X(p[0]).toFixed(1) + " " + Y(p[1]).toFixed(1))
                    .join("");
      node.append(svg("path", {
        d,
        fill: "none",
        stroke: s.colour,
        "stroke-width": 2,
        "stroke-dasharray": s.dash || null,
        "stroke-linejoin": "round"
      }));
    }
    const legend =
        el("p", {class: "note"},
           series.map((s) => el("span", {class: "legend-item"}, swatch(s.colour, s.dash), s.name)));
    return el(
        "figure", {class: "figure"}, el("figcaption", {}, title), node, series.length > 1 ? legend : null);
  }
  const swatch = (colour, dash) =>
      svg("svg", {width: 26, height: 10, viewBox: "0 0 26 10", class: "swatch", "aria-hidden": "true"},
          svg("line", {
            x1: 1,
            x2: 25,
            y1: 5,
            y2: 5,
            stroke: colour,
            "stroke-width": 2.5,
            "stroke-dasharray": dash || null
          }));

  // ---- how it was made

  // Both come from settings.c.
  function settingsCard(note) {
    const rules = data.settings.filter((s) => s.rule), others = data.settings.filter((s) => !s.rule);
    const list = (items) =>
        el("dl", {class: "settings"},
           items.map(
               (s) =>
                   [el("dt", {}, s.name),
                    el("dd", {}, el("code", {}, s.value), " ", el("span", {class: "note"}, s.help))]));
    const copy =
        el("button", {
          type: "button",
          onclick: () => navigator.clipboard.writeText(data.command)
                             .then(
                                 () => {
                                   copy.textContent = "Copied";
                                   cbx.say("Copied");
                                 },
                                 () => {})
        },
           "Copy");
    return card(
        "Rules and settings", el("h3", {}, "Rules in force"),
        rules.length ? list(rules) :
                       el("p", {class: "note"}, "None: any feature and any edge could be edited."),
        el("h3", {}, "Settings"),
        others.length ? list(others) : el("p", {class: "note"}, "All at their defaults."),
        el("h3", {}, "To make it again"),
        el("pre", {id: "command", tabindex: "0"},
           data.command.split(" ").flatMap((word) => [el("span", {class: "word"}, word), " "])),
        note ? el("p", {class: "note"}, note) : null,
        navigator.clipboard ? el("div", {class: "tools copy"}, copy) : null);
  }

  // ---- light and dark

  const root = document.documentElement;
  const kept = {
    get: () => {
      try {
        return localStorage.getItem("combinex-theme");
      } catch {
        return null;
      }
    },
    set: (v) => {
      try {
        localStorage.setItem("combinex-theme", v);
      } catch { /* a page from disk may have no store */
      }
    }
  };
  const isDark = () =>
      (root.dataset.theme ? root.dataset.theme === "dark" :
                            matchMedia("(prefers-color-scheme: dark)").matches);
  function themeButton() {
    const button = el("button", {type: "button", id: "theme"});
    const label = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", "Show in " + (isDark() ? "light" : "dark") + " colours");
    };
    const stored = kept.get();
    if (stored === "light" || stored === "dark") root.dataset.theme = stored;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      kept.set(root.dataset.theme);
      label();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
    label();
    return button;
  }

  document.getElementById("tools").append(themeButton());
  const main = document.getElementById("main");
  main.replaceChildren();
  if (data.version)
    document.getElementById("bottom").append(
        "Made by combinex " + data.version +
        ". This file holds everything that it shows, and loads nothing.");
  return {
    data,
    el,
    svg,
    replace,
    card,
    shape,
    looks,
    icon,
    ticks,
    narrow,
    say,
    count,
    counted,
    isNumber,
    nodeName,
    probability,
    short,
    seconds,
    exact,
    table,
    pairBars,
    lineChart,
    swatch,
    settingsCard,
    groupText,
    valueText,
    together,
    main
  };
})();
