// SPDX-License-Identifier: Apache-2.0
// explanation.js: the page of one explanation: what was decided, what would change it, what each
// edit does. All probabilities were computed by the model beforehand; nothing is estimated here.
"use strict";
(() => {
  const {data, el, main, card, exact, probability, counted, count, short} = cbx;
  const {target, answers, classes} = data;
  const className = (k) => (classes[k].name === null ? "class " + k : classes[k].name);
  // By its name, as the command line has it; a name that is a number says of what.
  const subject = target.name && !cbx.isNumber(target.name) ?
      target.name :
      (target.task === "graph" ? "Graph " : "Node ") + (target.name || target.row);
  let now = null;    // the answer that is shown, and which of its edits are in force
  const later = [];  // what to redraw when that changes

  // ---- the state: which edits are in force

  function choose(i) {
    const answer = answers[i], all = answer.edits.map(() => true);
    now = {i, answer, on: all, found: answer.result.status === "found"};
    update();
  }
  const isFull = () => now.on.every(Boolean);
  // Where the probabilities of this state stand: among all combinations of the first edits,
  // or among those with one of the others undone.
  function place() {
    const undo = now.answer.undo;
    if (!undo) return -1;
    const off = now.on.findIndex((on, i) => i >= undo.free && !on);
    if (off >= 0) return Math.pow(2, undo.free) + off - undo.free;
    return now.on.slice(0, undo.free).reduce((sum, on, i) => sum + (on ? Math.pow(2, i) : 0), 0);
  }
  function probabilities() {
    if (!now.found) return null;
    return isFull() ? now.answer.result.after.probabilities : now.answer.undo.probabilities[place()];
  }
  const leading = (p) => p.reduce((best, v, k) => (v > p[best] ? k : best), 0);
  const flips = () => now.found && (isFull() || now.answer.undo.flips[place()] === "1");
  function setChange(places, on) {
    const free = now.answer.undo.free;
    if (places[0] >= free)
      now.on = now.on.map((_, k) => k !== places[0] || on);  // one at a time, with all others in force
    else
      now.on = now.on.map((was, k) => (places.includes(k) ? on : k >= free ? true : was));
    update();
    cbx.say(verdict());
  }
  function verdict() {
    const p = probabilities(), k = leading(p), off = switchesOf(now.answer).filter(([i]) => !now.on[i]).length;
    return (off ? counted(off, "edit") + " undone: " : "All edits in force: ") + className(k) +
        " with probability " + probability(p[k]) + (flips() ? "." : ", so the class does not flip.");
  }
  const update = () => later.forEach((f) => f());
  // What can be undone: changes, but for those of which not every combination was computed.
  const switchesOf = (a) =>
      (a.undo ? changesOf(a.edits).flatMap((c) => (c.every((i) => i < a.undo.free) ? [c] : c.map((i) => [i]))) :
                changesOf(a.edits));

  // ---- words

  function ends(e) {
    const name = (key, id) => cbx.nodeName(e[key] === undefined ? id : e[key]);
    return [
      name("from_name", e.source !== undefined ? e.source : e.copy_of !== undefined ? e.copy_of : e.node),
      name("to_name", e.target !== undefined ? e.target : e.copy_of !== undefined ? e.to : e.node)
    ];
  }
  const isEdge = (e) => e.op === "remove_edge" || e.op === "add_edge" || e.op === "set_edge";
  // "C3", of a molecule whose atoms have no names; null: what it is about is no atom.
  function atomText(id) {
    const n = data.nodes.find((n) => n.id === id);
    return !n || !n.symbol ? null : /^[0-9]+$/.test(n.name) ? n.symbol + n.name : n.name;
  }
  // What an edge is given.
  function valueOf(e) {
    if (e.attribute === undefined) return short(e.weight);
    if (e.one_hot) return "attribute " + e.attribute;
    return e.from === undefined ? short(e.to) : short(e.from) + " → " + short(e.to);
  }
  // "remove the bond C3–N5", as the command line has it, or "remove edge 3 – 5".
  function edgeText(e) {
    const ordered = e.undirected && e.target < e.source ? [e.target, e.source] : [e.source, e.target];
    const [a, b] = ordered.map(atomText), bond = e.undirected && a && b, [from, to] = ends(e);
    const what = e.attribute === undefined ? "weight" : e.one_hot ? "kind" : "attribute " + e.attribute;
    const verb = {add_edge: bond ? "add a " : "add ", set_edge: what + (bond ? " of the " : " of ")}[e.op] ||
        (bond ? "remove the " : "remove ");
    return verb + (bond ? "bond " + a + "–" + b : "edge " + from + (e.undirected ? " – " : " → ") + to) +
        (e.op === "set_edge" ? ": " + valueOf(e) : "");
  }
  function editText(e) {
    const [from, to] = ends(e);
    if (isEdge(e)) return edgeText(e);
    if (e.op === "remove_node") {
      const atom = atomText(e.node);
      return "remove " + (atom ? "the atom " + atom : from);
    }
    if (e.op === "add_node") {
      const symbol = data.nodes[e.drawn] && data.nodes[e.drawn].symbol;
      return symbol ? "add another " + symbol + " at atom " + e.to_name : "add a copy of " + from + " at " + to;
    }
    return "set " + (e.name === undefined ? "feature " + e.feature : "“" + e.name + "”") + " of " + from +
        ": " + short(e.from) + " → " + short(e.to);
  }
  const featureName = (e) => (e.name === undefined ? "feature " + e.feature : e.name);
  const owner = (e) => (target.task === "node" && e.node === target.row ? "" : ends(e)[0]);
  // Places of edits, those of a one-hot group that points elsewhere together: they are one change.
  const changesOf = (edits) => cbx.together(
      edits, (e) => (e.group_number === undefined ? null : e.node + " " + e.group_number), (e) => e.to === 0);
  function groupText(a, b) {
    const [off, on] = a.to === 0 ? [a, b] : [b, a], atom = data.nodes[on.drawn];
    if (on.symbol && atom && atom.symbol)
      return "replace the " + atom.symbol + " at atom " + atom.name + " by " + on.symbol;
    return cbx.groupText(a.group, owner(a), featureName(off), featureName(on));
  }
  const changeTexts = (edits) => changesOf(edits).map(([i, k]) => {
    const e = edits[i];
    return k !== undefined ? groupText(e, edits[k]) :
        e.op !== "set_feature" ? editText(e) :
                             cbx.valueText(featureName(e), owner(e), e.from, e.to);
  });
  // As the command line has it.
  const percent = (p) => (p < 0.005 ? "<1 %" : p >= 0.995 ? ">99 %" : Math.round(100 * p) + " %");
  const howSure = (p) =>
      (p >= 0.95 ? "almost certain" : p >= 0.8 ? "fairly sure" : p >= 0.6 ? "rather likely" : "a close call");
  const sure = (p) => [exact(p, percent(p)), " (" + howSure(p) + ")"];
  const LISTED = 8;  // changes that are told above the picture
  const classLabel = (k) =>
      el("span", {class: "class-label"}, cbxGraph.icon(k), el("span", {}, className(k)));

  function lead() {
    const r = answers[0].result, title = el("h1"), sentence = el("p"), list = el("ul", {class: "changes"});
    later.push(() => {
      const a = now.answer.result, texts = now.found ? changeTexts(now.answer.edits) : [];
      const more = texts.length - LISTED + now.answer.all_edits - now.answer.edits.length;
      list.hidden = !texts.length;
      cbx.replace(list, texts.slice(0, LISTED).map((text) => el("li", {}, text)),
                  more > 0 ? el("li", {class: "note"}, "and " + count(more) + " more, below") : null);
      if (!now.found) {
        cbx.replace(title, subject + ": " + className(r.before.class));
        const why = {
          skipped: "It was not asked about",
          cancelled: "The search was stopped",
          not_found: "No counterfactual was found"
        }[a.status];
        cbx.replace(sentence, why + (a.reason ? ": " + a.reason : "") + ".");
        return;
      }
      cbx.replace(
          title, subject + ": " + className(a.before.class) + ", would be " + className(a.after.class));
      if (a.number_before !== undefined) {
        cbx.replace(
            sentence, "The model gives ", el("b", {}, exact(a.number_before, a.number_before.toPrecision(4))),
            ". It gives ", el("b", {}, exact(a.number_after, a.number_after.toPrecision(4))),
            ", verified on the whole edited graph, with " +
                (texts.length === 1 ? "this change:" : "these changes:"));
        return;
      }
      cbx.replace(
          sentence, "The model says ", el("b", {}, className(a.before.class)), ", ",
          sure(a.before.probabilities[a.before.class]), ". It says ", el("b", {}, className(a.after.class)), ", ",
          sure(a.after.probabilities[a.after.class]), ", verified on the whole edited graph, with " +
              (texts.length === 1 ? "this change:" : "these changes:"),
          a.reason ? el("span", {class: "note"}, " " + a.reason.replace(/^./, (x) => x.toUpperCase()) + ".") : null);
    });
    const facts = [
      target.data ? "data: " + target.data : null, target.model ? "model: " + target.model : null,
      target.label === undefined ? null : "label: " + className(target.label)
    ].filter(Boolean);
    return el(
        "div", {class: "lead"}, title, sentence, list,
        facts.length ? el("p", {class: "note"}, facts.join(" · ")) : null,
        answers.length > 1 ? chooser() : null);
  }

  function chooser() {
    const buttons =
        answers.map((a, i) => el("button", {type: "button", onclick: () => choose(i)}, "Answer " + (i + 1)));
    later.push(() => buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(i === now.i))));
    return el(
        "div", {class: "tools"},
        el("div", {class: "group", role: "group", "aria-label": "Answers"}, buttons));
  }

  // ---- the graph

  const TANGLE = 200;  // edges: as many are drawn pale
  function graphCard() {
    const details = el("div", {class: "details", id: "details", "aria-live": "polite"});
    const graph = cbxGraph.make({onSelect: show});
    const before = graph.panel("Before", "before"), after = graph.panel("After", "after");
    const panels = el("div", {class: "panels"}, before.node, after.node);
    const views = [["both", "Side by side"], ["before", "Before"], ["after", "After"]];
    // Where no edge or node goes or comes the two look the same, but for a class.
    let view = answers.some((a) => a.result.status === "found") ? (answers.some((a) => a.edits.some((e) => e.op !== "set_feature")) ? "both" : "after") :
                                                                  "before";
    const buttons = views.map(
        ([key, name]) =>
            el("button", {
              type: "button",
              "data-view": key,
              onclick: () => {
                view = key;
                arrange();
              }
            },
               name));
    function arrange() {
      panels.dataset.view = view;
      before.node.hidden = view === "after";
      after.node.hidden = view === "before" || !now.found;
      buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.view === view)));
      graph.draw();
    }
    function show(i) {
      details.classList.toggle("empty", i < 0);
      cbx.replace(details, i < 0 ? hint() : nodeDetails(i));
    }
    later.push(() => {
      const changed = new Set(), removed = new Map(), planned = new Set(), plannedEdges = new Map();
      const added = new Map(), plannedAdded = new Map(), lost = new Set(), plannedLost = new Set(), symbols = new Map();
      const reweighted = new Map(), plannedWeights = new Map(), came = new Set(), plannedCame = new Set();
      now.answer.edits.forEach((e, i) => {
        if (e.drawn < 0) return;
        if (e.op === "set_feature") {
          planned.add(e.drawn);
          if (now.on[i]) changed.add(e.drawn);
          if (now.on[i] && e.symbol) symbols.set(e.drawn, e.symbol);
          return;
        }
        if (e.op === "remove_node") {
          plannedLost.add(e.drawn);
          if (now.on[i]) lost.add(e.drawn);
          data.edges.forEach(([a, b], k) => {
            if (a !== e.drawn && b !== e.drawn) return;
            plannedEdges.set(k, 3);
            if (now.on[i]) removed.set(k, 3);
          });
          return;
        }
        if (e.op === "add_node") {
          plannedCame.add(e.drawn);
          if (now.on[i]) came.add(e.drawn);
          data.edges.forEach(([a, b], k) => {
            if (a !== e.drawn && b !== e.drawn) return;
            const bits = e.undirected ? 3 : a === e.drawn ? 1 : 2;
            plannedAdded.set(k, bits);
            if (now.on[i]) added.set(k, bits);
          });
          return;
        }
        const [a] = data.edges[e.drawn], bits = e.undirected ? 3 : data.nodes[a].id === e.source ? 1 : 2;
        const put = (map) => map.set(e.drawn, (map.get(e.drawn) || 0) | bits);
        const of = {remove_edge: [plannedEdges, removed], add_edge: [plannedAdded, added], set_edge: [plannedWeights, reweighted]};
        put(of[e.op][0]);
        if (now.on[i]) put(of[e.op][1]);
      });
      const nodeTask = target.task === "node", p = probabilities();
      const first = nodeTask && data.nodes.length && data.nodes[0].class !== undefined;
      before.state = {
        classes: first ? data.nodes.map((n) => n.class) : known("before"),
        symbols: new Map(),
        changed: planned,
        removed: plannedEdges,
        added: plannedAdded,
        lost: plannedLost,
        came: plannedCame,
        reweighted: plannedWeights,
        gone: false
      };
      const later = now.answer.nodes ? now.answer.nodes.map((n) => n.class) : known("after");
      if (later && p && nodeTask) later[0] = leading(p);
      after.state = {classes: later, symbols, changed, removed, added, lost, came, reweighted, gone: true};
      arrange();
      show(graph.selected());
    });
    // without a model only the target's class is known
    function known(when) {
      const side = answers[now.i].result[when];
      return target.task === "node" && side ? data.nodes.map((_, i) => (i ? null : side.class)) : null;
    }
    markEdge = graph.mark;
    const zoom = [
      ["Closer", "+", () => graph.zoomBy(1.3)], ["Further away", "−", () => graph.zoomBy(1 / 1.3)],
      ["The whole picture", "Reset", graph.reset]
    ];
    const picture = [
        el("div", {class: "tools"},
           answers.some((a) => a.result.status === "found") ?
               el("div", {class: "group", role: "group", "aria-label": "What is shown"}, buttons) :
               null,
           el("div", {class: "group", role: "group", "aria-label": "Zoom"},
              zoom.map(
                  ([name, text, action], i) =>
                      el("button", {
                        type: "button",
                        "aria-label": name,
                        "data-zoom": ["in", "out", "reset"][i],
                        onclick: action
                      },
                         text)))),
        panels, details, legend(), thinned(), nodeTable()];
    // A tangle in which nothing goes or comes says little, and would push what matters off the screen.
    const folded = data.edges.length > TANGLE && !answers.some((a) => a.edits.some((e) => e.op !== "set_feature"));
    return card(
        target.task === "node" ? "The graph around it" : "The graph",
        folded ? el("details", {id: "picture"},
                    el("summary", {}, "Show it: " + counted(data.nodes.length, "node") + ", and no link changes"), picture) :
                 picture);
  }
  let markEdge = () => {};

  const hint = () => el(
      "p", {class: "note"},
      "Point at a node to see its features and probabilities. Drag to move; click the picture to zoom with the wheel. With the keyboard: arrows, plus and minus.");

  function chances(list) {
    return list.map(([k, p]) => el("span", {class: "chance"}, classLabel(k), " ", exact(p, probability(p))));
  }
  function nodeDetails(i) {
    const n = data.nodes[i], after = now.answer.nodes ? now.answer.nodes[i] : null;
    const edits = now.answer.edits.filter(
        (e) => (isEdge(e) ? e.source === n.id || e.target === n.id : e.node === n.id));
    const rows = [];
    if (n.likely) rows.push(el("dt", {}, "before"), el("dd", {}, chances(n.likely)));
    if (after)
      rows.push(el("dt", {}, isFull() ? "after" : "after all edits"), el("dd", {}, chances(after.likely)));
    if (n.label !== undefined) rows.push(el("dt", {}, "label"), el("dd", {}, classLabel(n.label)));
    if (n.features)
      rows.push(
          el("dt", {}, "features"),
          el("dd", {},
             n.features.length ?
                 n.features.map(([name, v]) => name + (v === 1 ? "" : " = " + short(v))).join(", ") +
                     (n.more ? " and " + count(n.more) + " more" : "") :
                 "all 0"));
    if (edits.length)
      rows.push(
          el("dt", {}, "edits"),
          el("dd", {}, changeTexts(edits).slice(0, 6).join("; ") + (edits.length > 6 ? "; …" : "")));
    const where = target.task === "node" ? (i === 0                     ? "the target" :
                                                n.hop && data.all_nodes ? counted(n.hop, "step") + " away" :
                                                                          "") :
                                           "";
    return [
      el("h3", {},
         (cbx.isNumber(n.name) ? "Node " + n.name :
                                 n.name + (target.task === "node" ? ", node " + n.id : "")) +
             (where ? ", " + where : "")),
      el("dl", {}, rows)
    ];
  }

  function legend() {
    const shown = new Set();
    for (const n of data.nodes)
      if (n.class !== undefined) shown.add(n.class);
    for (const a of answers) {
      shown.add(a.result.before.class);
      if (a.result.after) shown.add(a.result.after.class);
      for (const n of a.nodes || []) shown.add(n.class);
    }
    const sample = (draw) => cbx.svg(
        "svg", {width: 26, height: 18, viewBox: "-13 -9 26 18", class: "icon", "aria-hidden": "true"}, draw);
    const items = target.task === "node" ?
        [...shown]
            .sort((a, b) => a - b)
            .map((k) => el("li", {class: "class-label"}, cbxGraph.icon(k), el("span", {}, className(k)))) :
        [];
    const edge = (css) => cbx.svg("g", {class: css}, cbx.svg("line", {x1: -12, x2: 12, y1: 0, y2: 0}));
    const ring = (css, r) => cbx.svg("circle", {r, class: css});
    const marks = [
      target.task === "node" ? ["ring-target", "the target"] : null,
      anyEdit("set_feature") ? ["ring-changed", "features changed"] : null,
      anyEdit("remove_node") ? ["ring-lost", "node removed"] : null,
      anyEdit("add_node") ? ["ring-came", "node added"] : null
    ].filter(Boolean);
    for (const [css, text] of marks) items.push(el("li", {}, sample(ring(css, 6.5)), text));
    if (anyEdit("remove_edge") || anyEdit("remove_node"))
      items.push(
          el("li", {}, sample(edge("edge removed")), "to be removed"),
          el("li", {}, sample(edge("edge removed gone")), "removed"));
    if (anyEdit("add_edge") || anyEdit("add_node"))
      items.push(
          el("li", {}, sample(edge("edge added planned")), "to be added"),
          el("li", {}, sample(edge("edge added")), "added"));
    if (anyEdit("set_edge"))
      items.push(el("li", {}, sample(edge("edge reweighted")), "other weight" + (anyAttribute() ? " or attribute" : "")));
    return el("ul", {class: "legend", "aria-label": "Legend"}, items);
  }
  const anyAttribute = () => answers.some((a) => a.edits.some((e) => e.attribute !== undefined));
  const anyEdit = (op) => answers.some((a) => a.edits.some((e) => e.op === op));

  function thinned() {
    const shown = data.nodes.length, all = data.all_nodes, lines = [];
    if (all > shown)
      lines.push(
          "Shown are " + count(shown) + " of the " + counted(all, "node") +
          " that the decision may rest on: " + (target.task === "node" ? "the target, " : "") +
          "what the edits touch" + (target.task === "node" ? ", the ways between them" : "") +
          ", and then the nearest and best connected.");
    if (!all) lines.push("Only what the edits name is drawn: the graph and the model were not given.");
    const note = el("p", {class: "note"});
    later.push(() => {
      const missing = now.answer.edits.filter((e) => e.drawn < 0).length;
      const partly = now.found && !isFull() && target.task === "node" && data.nodes.length > 1 ?
          "With edits undone, the target has its class then; other nodes are shown with all edits in force." :
          "";
      cbx.replace(note, [
        ...lines,
        missing ?
            counted(missing, "listed edit") + (missing === 1 ? " is" : " are") + " outside of the picture." :
            "",
        partly
      ].filter(Boolean).join(" "));
    });
    return note;
  }

  function nodeTable() {
    if (target.task !== "node" || !data.nodes.some((n) => n.class !== undefined)) return null;
    const holder = el("div");
    later.push(() => {
      const after = now.answer.nodes;
      cbx.replace(
          holder,
          cbx.table({
               caption: "The nodes of the picture",
               columns: [
                 {label: "Node", value: (n) => n.name},
                 {label: "Steps away", value: (n) => n.hop, right: true},
                 {label: "Class before", value: (n) => n.class, show: (n) => classLabel(n.class)},
                 ...(after ? [{
                   label: "Class after all edits",
                   value: (n) => after[data.nodes.indexOf(n)].class,
                   show: (n) => {
                     const k = after[data.nodes.indexOf(n)].class;
                     return k === n.class ? classLabel(k) : el("b", {}, classLabel(k));
                   }
                 }] :
                             []),
               ],
               rows: data.nodes,
             })
              .node);
    });
    return el("details", {}, el("summary", {}, "The same as a table"), holder);
  }

  // ---- probabilities and edits

  function barsCard() {
    const p = answers[0].result.before.probabilities;
    const most = (k) =>
        Math.max(p[k], ...answers.map((a) => (a.result.after ? a.result.after.probabilities[k] : 0)));
    let shown = p.map((_, k) => k);
    if (shown.length > 10) shown = shown.sort((a, b) => most(b) - most(a)).slice(0, 10);
    const bars = cbx.pairBars(
        shown.map((k) => ({label: classLabel(k), before: p[k]})), ["Probabilities before", "after"]);
    const say = el("p", {id: "verdict"}),
          keys =
              el("p", {class: "note"}, el("span", {class: "key before-key"}), "before ",
                 el("span", {class: "key after-key"}), "after");
    later.push(() => {
      const q = probabilities();
      bars.update(q ? shown.map((k) => q[k]) : null);
      say.hidden = keys.hidden = !q;
      bars.node.classList.toggle("before-only", !q);
      if (q) {
        say.textContent = verdict();
        say.className = flips() ? "verdict flips" : "verdict stays";
      }
    });
    return card(
        "Class probabilities", bars.node, keys,
        p.length > shown.length ?
            el("p", {class: "note"}, "The " + shown.length + " largest of " + p.length + " classes.") :
            null,
        say);
  }

  function editsCard() {
    const holder = el("div"),
          all =
              el("button", {
                type: "button",
                id: "all-on",
                onclick: () => {
                  now.on = now.on.map(() => true);
                  update();
                  cbx.say(verdict());
                }
              },
                 "All in force");
    let built = null, switches = [];
    function build() {
      const a = now.answer, undo = a.undo, to = a.result.after.class;
      const rows = switchesOf(a).map((places, i) => ({places, i, e: a.edits[places[0]]}));
      const text = (r) => (r.places.length > 1 ? groupText(...r.places.map((k) => a.edits[k])) : editText(r.e));
      const influence = (r) =>
          (r.places.some((k) => typeof a.edits[k].influence !== "number") ?
               null :
               r.places.reduce((sum, k) => sum + a.edits[k].influence, 0));
      switches = rows.map((r) => el("input", {
                            type: "checkbox",
                            class: "switch",
                            role: "switch",
                            "data-edit": r.i,
                            "data-place": r.places[0],
                            "aria-label": "In force: " + text(r),
                            checked: true,
                            onchange: (event) => setChange(r.places, event.target.checked)
                          }));
      const without = ({places}) =>
          (undo ? undo.probabilities
                      [places[0] < undo.free ?
                           Math.pow(2, undo.free) - 1 - places.reduce((sum, k) => sum + Math.pow(2, k), 0) :
                           Math.pow(2, undo.free) + places[0] - undo.free][to] :
                  null);
      const columns = [
        {label: "In force", fixed: true, show: (r) => switches[r.i]},
        {label: "Edit", value: text, show: (r) => el("span", {class: "what"}, text(r))},
        {
          label: "Influence",
          right: true,
          value: influence,
          show: (r) => (influence(r) === null ? "–" : exact(influence(r), short(influence(r))))
        },
        {
          label: "Without it",
          right: true,
          value: without,
          show: (r) => exact(without(r), probability(without(r)))
        },
      ].slice(undo ? 0 : 1, undo ? 4 : 3);
      const table = cbx.table({
        caption: "Influence: how far the edit alone pushes towards the new class." +
            (undo ? " Without it: probability of " + className(to) + " when only this edit is undone." : ""),
        columns,
        rows,
        stack: true,
        scroll: rows.length > 12,
        decorate: (line, row, i) => {
          line.dataset.row = i;
          const edge = isEdge(row.e) ? row.e.drawn : -1;
          for (const [kind, value] of [
                   ["pointerenter", edge], ["pointerleave", -1], ["focusin", edge], ["focusout", -1]])
            line.addEventListener(kind, () => markEdge(value));
        },
      });
      const notes = [];
      if (a.all_edits > a.edits.length)
        notes.push(
            "The " + count(a.edits.length) + " most influential of " + counted(a.all_edits, "edit") +
            " are listed; the other " + count(a.all_edits - a.edits.length) + " are in force.");
      if (undo)
        notes.push(
            undo.free === a.edits.length ? "Every combination was computed by the model on the whole graph." :
                                           "The " + undo.free +
                    " most influential can be undone in any combination, the others one at a time with all else in force; each of these " +
                    count(undo.probabilities.length) +
                    " cases was computed by the model on the whole graph.");
      else
        notes.push("What undoing edits does is not known here: the graph and the model were not given.");
      cbx.replace(holder, table.node, el("p", {class: "note"}, notes.join(" ")));
      built = a;
    }
    later.push(() => {
      if (!now.found) {
        cbx.replace(holder, el("p", {}, "There are none."));
        all.hidden = true;
        return;
      }
      if (built !== now.answer) build();
      all.hidden = !now.answer.undo;
      all.disabled = isFull();
      switches.forEach((s) => {
        s.checked = now.on[s.dataset.place];
        if (s.closest("tr")) s.closest("tr").className = s.checked ? "" : "off";
      });
    });
    return card("Edits", holder, el("div", {class: "tools below"}, all));
  }

  // ---- how good, how found, how to make it again

  const merged = (edits) => edits.length - changesOf(edits).length;
  function qualityCard() {
    const list = el("dl");
    const certificates = {
      irreducible: "Each change is needed: undoing any one, or a step of it, loses the flip.",
      optimal: "Proved to be the cheapest: every cheaper set of changes was excluded.",
      none_within_budget: "None was found within the budget; there may be one.",
      proved_none: "Proved: nothing within the rules flips the class."
    };
    later.push(() => {
      const r = now.answer.result, rows = [];
      const add = (name, ...what) => rows.push(el("dt", {}, name), el("dd", {}, ...what));
      add("asked for", r.target === "any" ? "any other class" : className(r.target));
      if (r.threshold) add("with at least", exact(r.threshold, probability(r.threshold)));
      add("certificate",
          certificates[r.certificate] ||
              (now.found ? "None: it holds, and nothing more is claimed." : "None."));
      if (r.lower_bound !== undefined && r.certificate !== "optimal")
        add("any answer costs", "at least " + short(r.lower_bound) + (r.proof ? ", proved" : ""));
      if (r.proof) add("proved of all", r.proof.scope);
      if (now.found) {
        add("verified", "on the whole edited graph");
        add("edits",
            counted(r.edges_removed, "edge") + " removed, " +
                (r.edges_added ? counted(r.edges_added, "edge") + " added, " : "") +
                (r.nodes_removed ? counted(r.nodes_removed, "node") + " removed, " : "") +
                (r.nodes_added ? counted(r.nodes_added, "node") + " added, " : "") +
                (r.edges_reweighted ? counted(r.edges_reweighted, "edge") + (anyAttribute() ? " changed, " : " reweighted, ") : "") +
                counted(r.features_changed - merged(now.answer.edits), "feature value") +
                " set");
        if (r.cost !== undefined) add("cost", exact(r.cost, short(r.cost)));
        if (r.margin !== undefined && r.margin !== null)
          add("margin", exact(r.margin, short(r.margin)), " nats: how far the new class is ahead");
        if (r.plausibility !== undefined)
          add("plausibility", exact(r.plausibility, short(r.plausibility)),
              " times as far from real rows of the class as those are from each other");
        if (r.robustness !== undefined)
          add("robustness", exact(r.robustness, Math.round(r.robustness * 100) + " %"),
              " of small random changes of the answer keep the class");
      }
      if (r.nodes !== undefined)
        add("rests on",
            counted(r.nodes, "node") + ", " + counted(r.edges, "edge") +
                (r.left_out ? "; " + counted(r.left_out, "link") + " further out not followed" : ""));
      if (r.seconds !== undefined)
        add("took", exact(r.seconds, cbx.seconds(r.seconds)),
            r.epoch !== undefined && data.trace ?
                "; found in epoch " + count(r.epoch) + " of " + count(r.epochs) :
                "");
      cbx.replace(list, rows);
    });
    return card(answers.some((a) => a.result.status === "found") ? "How good it is" : "What is known", list);
  }

  function curvesCard() {
    if (!data.trace || data.trace.length < 2) return null;
    const column = (k) => data.trace.map((row) => [row[0], row[k] === null ? NaN : row[k]]);
    const used = (k) => data.trace.some((row) => row[k] !== null && row[k] !== 0);
    const found = answers[0].result.epoch,
          marks =
              answers[0].result.status === "found" && found !== undefined ? [{x: found, label: "found"}] : [];
    function chart(title, lines) {
      const series =
          lines.filter(([, k]) => used(k)).map(([name, k, colour,
                                                 dash]) => ({name, colour, dash, points: column(k)}));
      return series.length ? cbx.lineChart({title, series, marks, xLabel: "epoch"}) : null;
    }
    const charts = [
      chart(
          "Loss", [["all of it", 1, "var(--text)", null], ["of the prediction", 2, "var(--line-1)", "6 3"]]),
      chart(
          "Loss of what is changed",
          [["edges", 3, "var(--line-2)", null], ["features", 4, "var(--line-1)", "6 3"]]),
      chart("α: the price of features; that of edges is 1 − α", [["α", 5, "var(--text)", null]]),
      chart("Edits of the thresholded graph", [["edits", 7, "var(--text)", null]]),
    ].filter(Boolean);
    return charts.length ? card("The search", el("div", {class: "charts"}, charts)) : null;
  }

  main.append(
      lead(), graphCard(),
      el("div", {class: "columns"}, el("div", {class: "pile"}, barsCard(), qualityCard()),
         el("div", {class: "pile"}, editsCard(), cbx.settingsCard())),
      curvesCard() || "");
  choose(0);
})();
