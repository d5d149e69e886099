// SPDX-License-Identifier: Apache-2.0
// run.js: the page of many targets: how it went, each target in a table that can be searched,
// and what the answers have in common.
"use strict";
(() => {
  const {data, el, main, card, exact, probability, count, counted, short} = cbx;
  const {classes, common} = data;
  const noun = data.task;  // node or graph
  const rows = data.rows.map((cells) => Object.fromEntries(data.columns.map((name, i) => [name, cells[i]])));
  // A class below 0 was not known when time was up.
  const className = (k) =>
      (k < 0                                      ? "not known" :
           classes[k] && classes[k].name !== null ? classes[k].name :
                                                    "class " + k);
  const classLabel = (k) =>
      el("span", {class: "class-label"}, k < 0 ? null : cbx.icon(k), el("span", {}, className(k)));
  const isFound = (r) => data.outcomes[r.status] === "found";
  const outcomeNames = {found: "found", not_found: "none found", skipped: "not asked", cancelled: "stopped"};
  const outcomeName = (r) => outcomeNames[data.outcomes[r.status]];
  const certificates = {
    irreducible: "all needed",
    optimal: "proved cheapest",
    none_within_budget: "none within the budget",
    proved_none: "proved: there is none"
  };
  const percent = (part, all) => (all ? Math.round((100 * part) / all) : 0) + " %";

  // ---- words

  const nodeName = (id) => cbx.nodeName(data.node_names[id] === undefined ? id : data.node_names[id]);
  const featureName = (f) =>
      (data.feature_names[f] === undefined ? "feature " + f : "“" + data.feature_names[f] + "”");
  const targetName = (r) =>
      (noun === "node" && data.node_names[r.row] !== undefined && data.node_names[r.row] !== String(r.row) ?
           data.node_names[r.row] :
           "");
  const edgeText = (a, b, undirected) => nodeName(a) + (undirected ? " – " : " → ") + nodeName(b);
  // Of [node, feature, from, to, group] the last is there for one-hot groups, which are one change.
  const groupName = (g) => data.group_names[g] || "";
  function editTexts(list) {
    const group = (e) => (e.length === 5 ? e[0] + " " + e[4] : null), isOff = (e) => e[3] === 0;
    return cbx.together(list, group, isOff).map(([i, k]) => {
      const e = list[i];
      if (k === undefined) return editText(e);
      const [off, on] = isOff(e) ? [e, list[k]] : [list[k], e], name = (x) => data.feature_names[x[1]] || featureName(x[1]);
      return cbx.groupText(groupName(e[4]), nodeName(e[0]), name(off), name(on));
    });
  }
  const editText = (e) =>
      (e.length === 1     ? "remove " + nodeName(e[0]) :
           e.length === 2 ? "add a copy of " + nodeName(e[0]) + " at " + nodeName(e[1]) :
           e.length === 3   ? "remove edge " + edgeText(...e) :
           e[3] === "added" ? "add edge " + edgeText(...e) :
           Array.isArray(e[3]) ?
           (e[3][1] === undefined ? "weight" : e[3][1] < 0 ? "kind" : "attribute " + (e[3][1] - 1)) + " of edge " +
                   edgeText(...e) + ": " + (e[3][1] < 0 ? "attribute " + (-e[3][1] - 1) : short(e[3][0])) :
           "set " + featureName(e[1]) + " of " + nodeName(e[0]) + ": " + short(e[2]) + " → " + short(e[3]));

  // What a search looks through: a target's numbers, names, classes and edits.
  const hay = new Map();
  function searchText(r) {
    if (!hay.has(r))
      hay.set(r, [
        noun, r.row, targetName(r), className(r.before), isFound(r) ? className(r.after) : "", outcomeName(r),
        certificates[r.certificate] || "", r.reason === null ? "" : data.reasons[r.reason],
        ...editTexts(r.list)
      ].join("\n").toLowerCase());
    return hay.get(r);
  }
  // Every word must be there; numbers as a whole: 3 does not find 13.
  function matcher(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (r) => words.every(
               (w) =>
                   (/^\d+$/.test(w) ? new RegExp("(^|[^0-9.])" + w + "([^0-9.]|$)", "m").test(searchText(r)) :
                                      searchText(r).includes(w)));
  }

  // ---- how it went

  function lead() {
    const c = data.counts, asked = data.targets - c.skipped;
    const edits = rows.filter(isFound).map((r) => r.edits).sort((a, b) => a - b);
    const tile = (value, name, more) =>
        el("div", {class: "tile"}, el("dt", {}, name),
           el("dd", {}, el("b", {}, value), more ? el("span", {class: "note"}, more) : null));
    const proofs = (kind) => rows.filter((r) => r.certificate === kind).length;
    const facts =
        [data.data ? "data: " + data.data : null, data.model ? "model: " + data.model : null].filter(Boolean);
    const tiles = [tile(
        exact(c.found, percent(c.found, asked)), "flipped", count(c.found) + " of " + counted(asked, noun))];
    if (edits.length)
      tiles.push(tile(
          exact(cbxRun.quantile(edits, 0.5), short(cbxRun.quantile(edits, 0.5))), "changes, median",
          edits[0] === edits[edits.length - 1] ?
              "always" :
              "from " + count(edits[0]) + " to " + count(edits[edits.length - 1])));
    const optimal = proofs("optimal"),
          all = optimal + proofs("irreducible");  // what is optimal is irreducible, too
    if (all)
      tiles.push(tile(
          exact(all, percent(all, edits.length)), "every change needed",
          optimal ? percent(optimal, edits.length) + " proved the cheapest" : "none can be left out"));
    tiles.push(tile(exact(data.seconds, cbx.seconds(data.seconds)), "search time", "all targets together"));
    const rest = [
      c.not_found ? "for " + count(c.not_found) + " none was found" : null,
      c.skipped ? counted(c.skipped, noun) + (c.skipped === 1 ? " was" : " were") + " not asked about" : null,
      c.cancelled ? count(c.cancelled) + " searches were stopped" : null
    ].filter(Boolean);
    return el(
        "div", {class: "lead"}, el("h1", {}, "What would change the class? " + counted(data.targets, noun)),
        el("p", {},
           "Each answer is a set of edits that makes the model see another class, verified on the whole edited graph." +
               (rest.length ? " " + rest.join("; ").replace(/^./, (x) => x.toUpperCase()) + "." : "")),
        facts.length ? el("p", {class: "note"}, facts.join(" · ")) : null, el("dl", {class: "tiles"}, tiles));
  }

  // ---- distributions

  function distributions() {
    const of = (key, wanted) => (r) => (wanted(r) && r[key] !== null ? [r[key]] : []);
    const took = (r) => data.outcomes[r.status] !== "skipped" && r.seconds > 0;
    const kinds =
        [
          {title: "Changes", key: "edits", get: of("edits", isFound), whole: true, unit: "changes"},
          {
            title: "Time for one target",
            key: "seconds",
            get: of("seconds", took),
            spread: true,
            unit: "time",
            show: cbx.seconds
          },
          {
            title: "Margin",
            key: "margin",
            get: of("margin", isFound),
            unit: "lead of the new class, in nats"
          },
        ].map((k) => ({...k, chart: cbxRun.histogram({...k, values: rows.flatMap(k.get)})}))
            .filter((k) => k.chart);
    const update = (kept) => kinds.forEach((k) => k.chart.update(kept.flatMap(k.get)));
    return {
      node: kinds.length ?
          card("Distributions", el("div", {class: "thirds"}, kinds.map((k) => k.chart.node)), partial()) :
          "",
      update
    };
  }
  function partial() {
    return rows.length < data.targets ?
        el("p", {class: "note"},
           "Of " + count(data.targets) + " targets this page lists " + count(rows.length) +
               ", evenly spread over the results; charts and medians are of those. What recurs, and how many were flipped, was counted over all.") :
        null;
  }

  // ---- the table

  function detail(r) {
    const more = r.edits - editTexts(r.list).length, facts = [];
    const add = (name, ...what) => facts.push(el("dt", {}, name), el("dd", {}, ...what));
    if (r.reason !== null) add(isFound(r) ? "but" : "why not", data.reasons[r.reason]);
    if (r.label !== null)
      add("label", classLabel(r.label), r.label === r.before || r.before < 0 ? "" : " (the model is wrong)");
    if (isFound(r)) {
      add(className(r.before), exact(r.p, probability(r.p)), " → ", exact(r.p_after, probability(r.p_after)));
      add(className(r.after), exact(r.q, probability(r.q)), " → ", exact(r.q_after, probability(r.q_after)));
    }
    if (r.plausibility !== null) add("plausibility", exact(r.plausibility, short(r.plausibility)));
    if (r.robustness !== null) add("robustness", exact(r.robustness, Math.round(r.robustness * 100) + " %"));
    if (r.answers > 1) add("answers", count(r.answers) + "; this is the first");
    add("result", "line " + count(r.line));
    const flag = "--" + noun + " ", page = flag.slice(2, -1) + "-" + r.row + ".html";
    // where names are numbers, the number alone would be that of another node
    const row = cbx.isNumber(targetName(r)) ? "@" + r.row : String(r.row);
    const command = data.command.replace(flag + "TARGET", () => flag + row) + " --html " + page;
    return el(
        "div", {class: "detail"},
        el("div", {}, el("h3", {}, r.list.length ? "Edits" : "No edits"),
           r.list.length ? el("ol", {}, editTexts(r.list).map((text) => el("li", {}, text))) : null,
           more > 0 ? el("p", {class: "note"}, "and " + count(more) + " more, in the result") : null),
        el("div", {}, el("dl", {}, facts),
           el("p", {class: "note"}, "Its own page: ", el("code", {}, command))));
  }

  function targetsCard(onKeep) {
    const lengths = rows.filter(isFound).map((r) => r.edits).sort((a, b) => a - b);
    const full = lengths.length ? Math.max(1, cbxRun.quantile(lengths, 0.98)) : 1;
    const found = (f, other = "") => (r) => (isFound(r) ? f(r) : other);
    const open = new Map();
    function toggle(r, line, button) {
      const on = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(on));
      if (on && !open.has(r))
        open.set(r, el("tr", {class: "more"}, el("td", {colspan: columns.length}, detail(r))));
      if (on)
        line.after(open.get(r));
      else
        open.get(r).remove();
    }
    const columns = [
      {
        label: noun === "node" ? "Node" : "Graph",
        value: (r) => r.row,
        show: (r) =>
            el("button", {
              type: "button",
              class: "expand",
              "aria-expanded": "false",
              id: noun + "-" + r.row,
              "aria-label": "Details of " + noun + " " + r.row
            },
               String(r.row), targetName(r) ? el("span", {class: "muted"}, " " + targetName(r)) : null)
      },
      {
        label: "Before",
        value: (r) => className(r.before),
        show: (r) =>
            el("span", {class: "outcome"}, classLabel(r.before), " ",
               r.p === null ? null : exact(r.p, probability(r.p)))
      },
      {
        label: "After",
        value: found((r) => className(r.after), null),
        show: found(
            (r) =>
                el("span", {class: "outcome"}, classLabel(r.after), " ",
                   exact(r.q_after, probability(r.q_after))))
      },
      {
        label: "Shift",
        fixed: true,
        show: found((r) => cbxRun.shift([r.p, r.p_after, r.before], [r.q, r.q_after, r.after]))
      },
      {
        label: "Changes",
        right: true,
        value: found((r) => r.edits, null),
        show: (r) => (
            isFound(r) ? el("span", {class: "edits"}, cbxRun.edits(r.features, r.edges, full),
                            el("span",
                               {
                                 "data-value": r.edits,
                                 title: counted(r.features, "feature value") + ", " + counted(r.edges, "edge")
                               },
                               count(r.edits))) :
                         el("span", {class: "muted"}, outcomeName(r)))
      },
      {
        label: "Margin",
        right: true,
        value: found((r) => r.margin, null),
        show: (r) => (r.margin === null || !isFound(r) ? "–" : exact(r.margin, short(r.margin)))
      },
      {
        label: "Time",
        right: true,
        value: (r) => r.seconds,
        show: (r) => (r.seconds === null ? "–" : exact(r.seconds, cbx.seconds(r.seconds)))
      },
      {
        label: "Known of it",
        value: (r) => certificates[r.certificate] || null,
        show: (r) => certificates[r.certificate] || "–"
      },
    ];
    const table = cbx.table({
      caption: "Sort by a heading; open a " + noun + " to see its edits.",
      columns,
      rows,
      stack: true,
      page: 25,
      decorate: (line, r) => {
        const button = line.querySelector(".expand");
        line.dataset.row = r.row;
        button.addEventListener("click", () => toggle(r, line, button));
      },
    });
    // rows that are drawn again are drawn with what was opened
    new MutationObserver(() => {
      for (const [r, more] of open) {
        const b = document.getElementById(noun + "-" + r.row);
        if (b && b.getAttribute("aria-expanded") === "true" && b.closest("tr").nextSibling !== more)
          b.closest("tr").after(more);
      }
    }).observe(table.body, {childList: true});

    const said = el("p", {class: "note", id: "kept"});
    const search = el("input", {
      type: "search",
      id: "search",
      "aria-label": "Search targets",
      placeholder: "Search: number, name, class, feature …",
      autocomplete: "off"
    });
    const pick = (id, label, options) =>
        (options.length > 1 ? el("label", {class: "pick"}, label + " ",
                                 el("select", {id}, el("option", {value: ""}, "any"),
                                    options.map(([v, text]) => el("option", {value: v}, text)))) :
                              null);
    const used = (f) => [...new Set(rows.map(f).filter((k) => k !== null))]
                            .sort((a, b) => a - b)
                            .map((k) => [k, className(k)]);
    const picks = [
      [
        pick(
            "pick-outcome", "outcome",
            [...new Set(rows.map((r) => r.status))].sort().map((s) => [s, outcomeNames[data.outcomes[s]]])),
        (r) => r.status
      ],
      [pick("pick-before", "before", used((r) => r.before)), (r) => r.before],
      [
        pick("pick-after", "after", used((r) => (isFound(r) ? r.after : null))),
        (r) => (isFound(r) ? r.after : null)
      ],
    ].filter(([node]) => node);
    const clear = el("button", {type: "button", id: "clear"}, "Clear");
    function apply() {
      const matches = matcher(search.value),
            wanted =
                picks.map(([node, of]) => [node.querySelector("select").value, of]).filter(([v]) => v !== "");
      const kept = table.keep((r) => wanted.every(([v, of]) => String(of(r)) === v) && matches(r));
      said.textContent = kept.length === rows.length ?
          counted(rows.length, noun) :
          count(kept.length) + " of " + counted(rows.length, noun);
      clear.hidden = !search.value && !wanted.length;
      onKeep(kept);
    }
    search.addEventListener("input", apply);
    search.addEventListener("change", () => cbx.say(said.textContent));
    picks.forEach(([node]) => node.addEventListener("change", () => {
      apply();
      cbx.say(said.textContent);
    }));
    clear.addEventListener("click", () => {
      search.value = "";
      picks.forEach(([node]) => {
        node.querySelector("select").value = "";
      });
      apply();
      search.focus();
      cbx.say(said.textContent);
    });
    // run.html#node-8 opens node 8
    function follow() {
      const r = rows.find((x) => "#" + noun + "-" + x.row === location.hash),
            line = r ? table.reveal(r) : null;
      if (!line) return;
      const button = line.querySelector(".expand");
      if (button.getAttribute("aria-expanded") !== "true") button.click();
      button.focus();
      line.scrollIntoView({block: "center"});
    }
    addEventListener("hashchange", follow);
    const key = (css, text) => el(
        "span", {class: "legend-item"}, el("span", {class: "kinds key-box"}, el("span", {class: css})), text);
    const node = card(
        "All targets", el("div", {class: "tools filters"}, search, picks.map(([n]) => n), clear), said,
        table.node,
        el("p", {class: "note"}, "Changes: ", key("features", "feature values"), key("edges", "edges"),
           "Shift: from the dot to the mark, above the class before, below the class after, on a scale from 0 to 1." +
               (lengths[lengths.length - 1] > full ? " Bars that end in a gap are longer than the cell." :
                                                     "")),
        data.edits_listed < Math.max(0, ...lengths) ?
            el("p", {class: "note"},
               "Of each answer the " + count(data.edits_listed) + " most influential edits are listed.") :
            null);
    return {
      node,
      start: () => {
        apply();
        follow();
      }
    };
  }

  // ---- what recurs

  function recurringCard() {
    if (!common.flips) return null;
    const parts = [];
    if (common.features.length)
      parts.push(
          el("div", {},
             cbx.table({
                  caption: "Features" +
                      (common.all_features > common.features.length ? ", the " + common.features.length +
                               " most frequent of " + count(common.all_features) :
                                                                      "") +
                      ": in how many flips, and how often a value rose or fell.",
                  columns: [
                    {label: "Feature", value: (f) => featureName(f[0])},
                    {
                      label: "Share",
                      fixed: true,
                      show: (f) => cbxRun.share(f[1] / common.flips, "features", percent(f[1], common.flips))
                    },
                    {label: "Flips", right: true, value: (f) => f[1], show: (f) => exact(f[1], count(f[1]))},
                    {label: "Rose", right: true, value: (f) => f[2], show: (f) => exact(f[2], count(f[2]))},
                    {label: "Fell", right: true, value: (f) => f[3], show: (f) => exact(f[3], count(f[3]))},
                  ],
                  rows: common.features,
                  scroll: common.features.length > 12,
                  sort: {column: 2, down: true}
                })
                 .node));
    const edges = common.edges.filter((e) => e[3] > 1);
    if (edges.length)
      parts.push(
          el("div", {},
             cbx.table({
                  caption: "Edges that more than one flip removes, adds or gives another value" +
                      (common.all_edges > common.edges.length && edges.length === common.edges.length ?
                           ", the " + edges.length + " most frequent" :
                           "") +
                      ", of " + count(common.all_edges) + ".",
                  columns: [
                    {label: "Edge", value: (e) => edgeText(e[0], e[1], e[2]) + (e[4] ? " (added)" : e[5] ? " (other value)" : "")},
                    {
                      label: "Share",
                      fixed: true,
                      show: (e) => cbxRun.share(e[3] / common.flips, "edges", percent(e[3], common.flips))
                    },
                    {label: "Flips", right: true, value: (e) => e[3], show: (e) => exact(e[3], count(e[3]))},
                  ],
                  rows: edges,
                  scroll: edges.length > 12,
                  sort: {column: 2, down: true}
                })
                 .node));
    else if (common.all_edges)
      parts.push(
          el("p", {class: "note"},
             counted(common.all_edges, "edge") + " would be removed, added or given another value, none of them in more than one flip."));
    const nodes = common.nodes.filter((n) => n[1] > 1);
    if (nodes.length)
      parts.push(
          el("p", {},
             "Nodes that more than one flip removes: " +
                 nodes.slice(0, 20).map((n) => nodeName(n[0]) + " (" + percent(n[1], common.flips) + ")").join(", ") +
                 (nodes.length > 20 ? ", …" : ".")));
    else if (common.all_nodes)
      parts.push(
          el("p", {class: "note"},
             counted(common.all_nodes, "node") + " would be removed, none of them in more than one flip."));
    const names =
        common.core.slice(0, 5).map((c) => featureName(c[0])).join(", ") + (common.all_core > 5 ? ", …" : "");
    const core = !common.core_known ?
        "Some answers have more than 100 edits: too many for a few features to stand out." :
        common.covered ?
        (common.covered === common.flips ? "Every flip changes " :
                                           percent(common.covered, common.flips) + " of the flips change ") +
            (common.all_core > 1 ? "at least one of " : "") + names + (common.all_core > 5 ? "" : ".") :
        null;
    return card(
        "What recurs", core ? el("p", {id: "core"}, core) : null, el("div", {class: "columns"}, parts));
  }

  // ---- from class to class

  function movesCard() {
    const found = rows.filter(isFound), from = [...new Set(found.map((r) => r.before))].sort((a, b) => a - b),
          to = [...new Set(found.map((r) => r.after))].sort((a, b) => a - b);
    if (!found.length || from.length > 12 || to.length > 12) return null;
    const number = (a, b) => found.filter((r) => r.before === a && r.after === b).length,
          most = Math.max(...from.flatMap((a) => to.map((b) => number(a, b))));
    const cell = (a, b) => {
      const n = number(a, b),
            td = el("td", {class: "right move", "data-value": n}, el("span", {}, n ? count(n) : "·"));
      if (n) td.style.setProperty("--share", (8 + (34 * n) / most).toFixed(0) + "%");
      return td;
    };
    const table =
        el("table", {class: "moves", "aria-label": "Which class turned into which"},
           el("thead", {},
              el("tr", {}, el("th", {scope: "col"}, "before ↓  after →"),
                 to.map((b) => el("th", {scope: "col", class: "right"}, classLabel(b))))),
           el("tbody", {},
              from.map(
                  (a) => el("tr", {}, el("th", {scope: "row"}, classLabel(a)), to.map((b) => cell(a, b))))));
    return card(
        "From class to class",
        el("p", {class: "note"},
           "Which class turned into which: a row for the class before, a column for the class after."),
        el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "From class to class"},
           table));
  }

  const charts = distributions(), targets = targetsCard(charts.update);
  main.append(
      lead(), charts.node, targets.node, recurringCard() || "",
      el("div", {class: "columns"}, movesCard() || "",
         cbx.settingsCard("TARGET stands for the number of a " + noun + ".")));
  targets.start();
})();
