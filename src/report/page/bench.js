// SPDX-License-Identifier: Apache-2.0
// bench.js: the page of a benchmark: explainers next to each other and next to the published
// figures, over all cells (a data set with a model) and one cell at a time.
"use strict";
(() => {
  const {data, el, main, card, count, counted, short} = cbx;
  const {cells, methods, measures, verdicts} = data;
  const {pair, fixed} = cbxBench;
  const asked =
      methods.map((_, i) => i).filter((i) => cells.some((c) => c.lines.some((l) => l.method === i)));
  const cellName = (c) => c.data + " · " + c.model;
  const signs = {better: "▲", equal: "=", worse: "▼"};

  // Ours, and below it what the paper prints, with a sign and a word.
  function figureCell([mean, std, published, deviation, verdict, place]) {
    const word = verdicts[verdict];
    const ours =
        el("span", {class: ["", "best", "second"][place] || null, "data-value": mean}, pair(mean, std));
    const theirs = published === null ?
        null :
        el("small", {class: word || null, "data-published": published}, pair(published, deviation),
           word ? " " + signs[word] + " " + word : "");
    return el("div", {class: "figure-cell"}, ours, theirs);
  }

  function lead() {
    const sets = new Set(cells.map((c) => c.data)).size, models = new Set(cells.map((c) => c.model)).size;
    return el(
        "div", {class: "lead"},
        el("h1", {},
           "Benchmark: " + counted(asked.length, "explainer") + ", " + counted(sets, "data set") + ", " +
               counted(models, "model")),
        el("p", {},
           counted(data.folds, "fold") + ", at most " + counted(data.samples, "target") + " in each, " +
               counted(data.epochs, "epoch") +
               " a search. Figures are the mean over folds ± its standard deviation; time is per target, found or not, and memory the peak of the process."),
        el("p", {class: "note"},
           "seed " + data.seed + " · oracles trained for " + counted(data.train_epochs, "epoch")));
  }

  // ---- who won

  const lineOf = (c, i) => c.lines.find((l) => l.method === i);
  function winnersCard() {
    const wins = methods.map((m, i) => ({name: m.name, count: cells.filter((c) => c.winner === i).length}))
                     .filter((w) => w.count)
                     .sort((a, b) => b.count - a.count);
    const columns = (key, title) => {
      const of = (c, get) => (c[key] < 0 ? null : get(lineOf(c, c[key])));
      const number = (label, get, digits) => ({
        label,
        right: true,
        value: (c) => of(c, get),
        show: (c) => of(c, (l) => el("span", {"data-value": get(l)}, fixed(get(l), digits))) || "–"
      });
      const name = (c) => (c[key] < 0 ? "nobody" : methods[c[key]].name);
      return [
        {label: title, value: name, show: (c) => el(key === "winner" ? "b" : "span", {}, name(c))},
        number(title + "’s validity", (l) => l.figures[0][0], 3),
        number(title + "’s edits", (l) => l.edits[0], 1)
      ];
    };
    const table = cbx.table({
      caption:
          "The winner of a cell has the highest validity, and among equals the fewest edits in the mean. Targets that were skipped count as not valid.",
      columns: [
        {label: "Cell", value: cellName, show: (c) => el("b", {}, cellName(c))},
        ...columns("winner", "Winner"), ...columns("second", "Second")
      ],
      rows: cells,
    });
    table.table.classList.add("matrix");
    return card(
        "Winners",
        el("p", {id: "winners"},
           wins.length ? wins.map((w) => w.name + ": " + counted(w.count, "cell")).join(" · ") :
                         "Nothing was found by anyone."),
        table.node);
  }

  // ---- next to the paper

  function scoreCard() {
    const rows =
        measures
            .map((m, k) => {
              const of = (word) => cells.reduce(
                  (sum, c) => sum + c.lines.filter((l) => verdicts[l.figures[k][4]] === word).length, 0);
              return {m, better: of("better"), equal: of("equal"), worse: of("worse")};
            })
            .filter((r) => r.better + r.equal + r.worse);
    if (!rows.length)
      return card(
          "Next to the published figures",
          el("p", {class: "note"}, "The paper prints none for these data sets and models."));
    const bar = (r) => {
      const all = r.better + r.equal + r.worse;
      return el("div", {class: "score", "aria-hidden": "true"}, ["better", "equal", "worse"].map((w) => {
        const s = el("span", {class: w});
        s.style.width = (100 * r[w]) / all + "%";
        return s;
      }));
    };
    const column = (w) => ({
      label: w,
      right: true,
      value: (r) => r[w],
      show: (r) => el("span", {class: w, "data-value": r[w]}, signs[w] + " " + count(r[w]))
    });
    return card(
        "Next to the published figures",
        cbx.table({
             caption:
                 "In how many rows of the paper's tables ours is better, equal (within two standard deviations, ours or theirs) or worse.",
             columns: [
               {label: "Measure", value: (r) => r.m.title},
               ...(cbx.narrow.matches ? [] : [{label: "Share", fixed: true, show: bar}]), column("better"),
               column("equal"), column("worse")
             ],
             rows,
           })
            .node);
  }

  function ranksCard() {
    const list = measures.map((_, k) => cbxBench.ranks(k)).filter(Boolean);
    return list.length ?
        card(
            "Mean ranks",
            el("p", {class: "note"}, "1 is the best; averaged over " + counted(cells.length, "cell") + ". ",
               kinds()),
            el("div", {class: "thirds"}, list)) :
        null;
  }
  const key = (mark, text) => el(
      "span", {class: "legend-item"},
      cbx.svg(
          "svg", {width: 14, height: 12, viewBox: "0 0 14 12", class: "swatch", "aria-hidden": "true"}, mark),
      text);
  const kinds = () =>
      [key(cbx.svg("circle", {cx: 6, cy: 6, r: 5, class: "mark ours"}), "COMBINEX"),
       key(cbx.svg("rect", {x: 2, y: 2, width: 8.4, height: 8.4, class: "mark others"}), "others")];

  // ---- all cells, one measure

  function overviewCard() {
    if (cells.length < 2) return null;
    const holder = el("div"),
          select =
              el("select", {id: "pick-measure"}, measures.map((m, k) => el("option", {value: k}, m.title)));
    const line = (c, i) => c.lines.find((l) => l.method === i);
    function draw() {
      const k = Number(select.value), m = measures[k];
      const table = cbx.table({
        caption: m.title + ", " + (m.higher ? "higher" : "lower") +
            " is better. Bold: the best of a cell; underlined: the second; small: the published figure.",
        columns: [
          {label: "Explainer", value: (i) => methods[i].name, show: (i) => el("b", {}, methods[i].name)},
          ...cells.map((c) => ({
                         label: cellName(c),
                         right: true,
                         value: (i) => (line(c, i) ? line(c, i).figures[k][0] : null),
                         show: (i) => (line(c, i) ? figureCell(line(c, i).figures[k]) : "–")
                       }))
        ],
        rows: asked,
      });
      table.table.classList.add("matrix");
      cbx.replace(holder, table.node);
    }
    select.addEventListener("change", () => {
      draw();
      cbx.say(measures[Number(select.value)].title);
    });
    draw();
    return card(
        "All cells", el("div", {class: "tools"}, el("label", {class: "pick"}, "measure ", select)), holder);
  }

  // ---- one cell

  function cellTable(c) {
    const figure = (k) => ({
      label: measures[k].title,
      right: true,
      value: (l) => l.figures[k][0],
      show: (l) => figureCell(l.figures[k])
    });
    const small = (value, text, more) =>
        el("div", {class: "figure-cell"}, el("span", {"data-value": value}, text),
           more ? el("small", {}, more) : null);
    const table = cbx.table({
      caption: "Higher is better for " +
          measures.filter((m) => m.higher).map((m) => m.title.toLowerCase()).join(" and ") +
          ", lower for the rest. Bold: the best; underlined: the second; small: the published figure, and whether ours is better (▲), equal (=) or worse (▼). Edits: feature values + edges.",
      columns: [
        {
          label: "Explainer",
          value: (l) => methods[l.method].name,
          show: (l) => el("b", {}, methods[l.method].name)
        },
        {
          label: "Found",
          right: true,
          value: (l) => l.found,
          show: (l) => small(
              l.found, count(l.found),
              "of " + count(l.targets) + (l.skipped ? ", " + count(l.skipped) + " skipped" : ""))
        },
        ...measures.map((_, k) => figure(k)),
        {
          label: "Edits",
          right: true,
          value: (l) => l.edits[0],
          show: (l) =>
              (l.edits[0] === null ? "n.d." :
                                     small(
                                         l.edits[0], fixed(l.edits[0], 1),
                                         fixed(l.features[0], 1) + " + " + fixed(l.edges[0], 1)))
        },
        {
          label: "Time",
          right: true,
          value: (l) => l.seconds[0],
          show: (l) =>
              (l.seconds[0] === null ?
                   "n.d." :
                   small(l.seconds[0], cbx.seconds(l.seconds[0]), "median " + cbx.seconds(l.seconds[1])))
        },
        {
          label: "Peak MB",
          right: true,
          value: (l) => l.peak_mb,
          show: (l) => (l.targets ? small(l.peak_mb, Math.round(l.peak_mb)) : "n.d.")
        },
      ],
      rows: c.lines,
    });
    table.table.classList.add("matrix");
    return table.node;
  }
  function cellCard() {
    const holder = el("div", {id: "cell"}), about = el("p", {id: "accuracy"});
    const select =
        el("select", {id: "pick-cell"}, cells.map((c, i) => el("option", {value: i}, cellName(c))));
    const step = (name, by) =>
        el("button", {
          type: "button",
          onclick: () => {
            select.value = String((Number(select.value) + by + cells.length) % cells.length);
            show(true);
          }
        },
           name);
    function show(loud) {
      const c = cells[Number(select.value)],
            charts = measures.map((_, k) => cbxBench.bars(c, k)).filter(Boolean);
      cbx.replace(
          about,
          "A class for each " + c.task + ". The oracle is right about " + pair(c.accuracy, c.accuracy_std) +
              " of its test " + c.task + "s.");
      const published = c.lines.some((l) => l.figures.some((f) => f[2] !== null));
      cbx.replace(
          holder, cellTable(c), el("h3", {class: "gap"}, "Measure by measure"),
          el("p", {class: "note"}, "Whiskers: one standard deviation over folds. ",
             published ? key(cbx.svg("path", {d: "M6 1L11 6L6 11L1 6Z", class: "published"}),
                             "the published figure") :
                         null),
          el("div", {class: "thirds"}, charts), cbxBench.tradeOff(c));
      if (loud) cbx.say(cellName(c));
    }
    select.addEventListener("change", () => show(true));
    cbx.narrow.addEventListener("change", () => show(false));
    show(false);
    return card(
        "One cell",
        el("div", {class: "tools"}, el("label", {class: "pick"}, "data and model ", select),
           cells.length > 1 ? [step("Previous", -1), step("Next", 1)] : null),
        about, holder);
  }

  function planCard() {
    const list = data.plan.trim().split("\n").map((l) => {
      const at = l.indexOf(" ");
      return at < 0 ? [l, ""] : [l.slice(0, at), l.slice(at + 1)];
    });
    const names = [...new Set(list.map(([n]) => n))];
    return card(
        "What decided the results",
        el("dl", {class: "settings"},
           names.map(
               (n) =>
                   [el("dt", {}, n),
                    el("dd", {}, list.filter(([m]) => m === n).map(([, v]) => v).join(", "))])));
  }

  main.append(lead(), winnersCard(), scoreCard(), ranksCard() || "", overviewCard() || "", cellCard(), planCard());
})();
