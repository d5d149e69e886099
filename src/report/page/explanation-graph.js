// SPDX-License-Identifier: Apache-2.0
// explanation-graph.js: the graph around the target, drawn before and after in one layout.
//
// Places come from the page's data; sizes are in pixels, so that zooming spreads the nodes and
// leaves letters readable. Both panels share one camera and one selected node.
"use strict";
const cbxGraph = (() => {
  const {data, el, svg, shape, looks, icon} = cbx;
  const cut = (name) => (Array.from(name).length > 16 ? Array.from(name).slice(0, 15).join("") + "…" : name);

  // What a panel shows: per node its class and rings, per edge what is left of it.
  // state: {classes: [..] or null, symbols: Map node -> letters that it has instead of its own, changed, lost and came: Sets of nodes, removed, added and reweighted:
  // Map edge -> bits of directions, gone: drawn as gone, and what is added as there}
  function make({onSelect}) {
    const camera = {zoom: 1, x: 0, y: 0};
    const panels = [];
    let selected = -1, marked = -1;

    function panel(title, key) {
      const picture = svg("svg", {
        class: data.edges.length > 200 ? "graph dense" : "graph",
        tabindex: "0",
        role: "application",
        "aria-label": "The graph " + title.toLowerCase() +
            ". Arrow keys go from node to node, plus and minus zoom, shift and arrows move."
      });
      const node = el("div", {class: "panel", "data-panel": key}, el("h3", {}, title), picture);
      const p = {node, picture, key, state: null};
      panels.push(p);
      listen(p);
      return p;
    }

    // ---- drawing

    function frame(p) {
      const width = p.picture.clientWidth || 300, height = p.picture.clientHeight || 300;
      const scale = Math.min(width / data.size[0], height / data.size[1]);
      const k = scale * camera.zoom, r = Math.min(9, Math.max(5.5, 9 * Math.sqrt(k)));
      return {
        width,
        height,
        k,
        r,
        at: (n) =>
            [width / 2 + (n.x - data.size[0] / 2 - camera.x) * k,
             height / 2 + (n.y - data.size[1] / 2 - camera.y) * k]
      };
    }

    function line(f, from, to, attributes, arrow, shift = 0) {
      let [x1, y1] = from, [x2, y2] = to;
      const length = Math.hypot(x2 - x1, y2 - y1) || 1, ux = (x2 - x1) / length, uy = (y2 - y1) / length;
      x1 -= uy * shift;
      x2 -= uy * shift;
      y1 += ux * shift;
      y2 += ux * shift;
      const group = svg("g", attributes, svg("line", {x1, y1, x2, y2}));
      if (arrow) {
        const tip = Math.max(length - f.r - 3, length / 2), x = x1 + ux * tip, y = y1 + uy * tip;
        group.append(svg("path", {
          class: "arrow",
          d: `M${x} ${y}L${x - ux * 7 - uy * 3.5} ${y - uy * 7 + ux * 3.5}L${x - ux * 7 + uy * 3.5} ${
              y - uy * 7 - ux * 3.5}Z`
        }));
      }
      return group;
    }

    function edges(p, f) {
      const layer = svg("g", {class: "edges"});
      const heavy = svg("g", {class: "edges"});  // what changes lies on top
      data.edges.forEach(([a, b, there], i) => {
        const lost = (p.state.removed.get(i) || 0) & there, left = there & ~lost;
        const from = f.at(data.nodes[a]), to = f.at(data.nodes[b]);
        const draw = (bits, css, shift, where) => {
          if (!bits) return;
          const ends = bits === 2 ? [to, from] : [from, to];
          where.append(line(f, ends[0], ends[1], {class: css, "data-edge": i}, bits !== 3, shift));
        };
        const on = marked === i ? " marked" : "";
        draw(left, "edge" + on, lost ? 2 : 0, layer);
        draw(lost, (p.state.gone ? "edge removed gone" : "edge removed") + on, left ? 2 : 0, heavy);
        draw((p.state.reweighted.get(i) || 0) & left, "edge reweighted" + on, 0, heavy);
        draw(p.state.added.get(i) || 0, (p.state.gone ? "edge added" : "edge added planned") + on, left ? 2 : 0,
             heavy);
      });
      return [layer, heavy];
    }

    const symbolOf = (p, i) => p.state.symbols.get(i) || data.nodes[i].symbol;
    function nodeGroup(p, f, i) {
      const n = data.nodes[i], [x, y] = f.at(n), k = p.state.classes ? p.state.classes[i] : null,
            look = looks(k);
      const symbol = symbolOf(p, i);
      const isTarget = data.target.task === "node" && i === 0,
            r = isTarget ? f.r * 1.33 : symbol ? Math.max(f.r, 10) + 1 : f.r;
      const group = svg("g", {
        class: "node" + (isTarget ? " target" : "") + (i === selected ? " selected" : ""),
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        "data-node": i,
        "data-id": n.id,
        "data-class": k === null ? null : k
      });
      if (i === selected) group.append(svg("circle", {r: r + 9, class: "ring-selected"}));
      if (p.state.changed.has(i))
        group.append(svg("circle", {r: r + (isTarget ? 8 : 5), class: "ring-changed"}));
      if (p.state.lost.has(i)) group.append(svg("circle", {r: r + 5, class: "ring-lost"}));
      if (n.comes) group.append(svg("circle", {r: r + 5, class: p.state.gone ? "ring-came" : "ring-came planned"}));
      if (isTarget) group.append(svg("circle", {r: r + 4.5, class: "ring-target"}));
      const faint = (n.comes ? !p.state.gone : p.state.lost.has(i) && p.state.gone) ? " lost" : "";
      group.append(shape(look, r, {class: "node-shape" + faint, fill: look ? look.colour : "var(--node)"}));
      if (symbol) group.append(svg("text", {y: 4, "text-anchor": "middle", class: "node-symbol"}, symbol));
      group.append(svg("title", {}, symbol ? symbol + ", node " + n.name : n.name));
      group.addEventListener("pointerenter", () => select(i, false));
      group.addEventListener("click", () => select(i, true));
      return group;
    }

    const rooms = (width, height) =>
        data.nodes.length <= 24 || Math.min(width / data.size[0], height / data.size[1]) * camera.zoom > 1.7;
    function label(p, f, i) {
      const n = data.nodes[i];
      if (!n.labelled && i !== selected && !rooms(f.width, f.height)) return null;
      const [x, y] = f.at(n), isTarget = data.target.task === "node" && i === 0;
      const gap = f.r + (isTarget ? 10 : n.symbol ? 6 : 4) + (p.state.changed.has(i) ? 4 : 0), text = cut(n.name),
            width = text.length * (isTarget ? 7.6 : 6.4);
      const [dx, dy, anchor] =
          [[0, gap + 10, "middle"], [gap, 4, "start"], [-gap, 4, "end"], [0, -gap, "middle"]][n.side];
      // kept inside of the frame while its node is
      const left = {start: 0, middle: width / 2, end: width}[anchor];
      const at =
          x < 0 || x > f.width ? x + dx : Math.min(Math.max(x + dx, left + 3), f.width - width + left - 3);
      return svg(
          "text", {
            x: at.toFixed(1),
            y: (y + dy).toFixed(1),
            "text-anchor": anchor,
            class: "node-label" + (isTarget ? " strong" : ""),
            "data-label": i
          },
          text);
    }

    function draw(p) {
      if (!p.state || p.node.hidden) return;
      const f = frame(p);
      // the target lies on top; what other edits would add is not there
      const order = data.nodes.map((_, i) => i).filter((i) => !data.nodes[i].comes || p.state.came.has(i)).reverse();
      p.picture.replaceChildren(
          ...edges(p, f), svg("g", {}, order.map((i) => nodeGroup(p, f, i))),
          svg("g", {class: "labels"}, order.map((i) => label(p, f, i))));
    }
    const drawAll = () => panels.forEach(draw);

    // ---- moving about

    function select(i, focus) {
      if (i === selected) return;
      selected = i;
      drawAll();
      onSelect(i, focus);
    }
    function mark(edge) {
      marked = edge;
      drawAll();
    }
    function zoomBy(factor) {
      camera.zoom = Math.min(12, Math.max(0.5, camera.zoom * factor));
      drawAll();
    }
    function move(dx, dy, k) {
      camera.x -= dx / k;
      camera.y -= dy / k;
      drawAll();
    }
    function reset() {
      Object.assign(camera, {zoom: 1, x: 0, y: 0});
      drawAll();
    }
    // The nearest node in a direction, those straight ahead first.
    function step(dx, dy) {
      const here = data.nodes[Math.max(selected, 0)];
      let best = -1, least = Infinity;
      data.nodes.forEach((n, i) => {
        const along = (n.x - here.x) * dx + (n.y - here.y) * dy,
              aside = Math.abs((n.x - here.x) * dy - (n.y - here.y) * dx);
        if (along > 1 && along + 2 * aside < least) {
          least = along + 2 * aside;
          best = i;
        }
      });
      if (selected < 0)
        select(0, true);
      else if (best >= 0)
        select(best, true);
    }

    const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    function onKey(event, p) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const way = arrows[event.key];
      if (way && event.shiftKey)
        move(-way[0] * 40, -way[1] * 40, frame(p).k);
      else if (way)
        step(way[0], way[1]);
      else if (event.key === "+" || event.key === "=")
        zoomBy(1.3);
      else if (event.key === "-")
        zoomBy(1 / 1.3);
      else if (event.key === "0")
        reset();
      else
        return;
      event.preventDefault();
    }

    function listen(p) {
      let held = null;
      p.picture.addEventListener("keydown", (e) => onKey(e, p));
      p.picture.addEventListener("wheel", (e) => {
        // a page that cannot be scrolled past a picture is a trap: first click, then wheel
        if (!e.ctrlKey && !e.metaKey && document.activeElement !== p.picture) return;
        e.preventDefault();
        zoomBy(Math.exp(-e.deltaY * 0.002));
      }, {passive: false});
      p.picture.addEventListener("pointerdown", (e) => {
        if (e.button === 0) held = [e.clientX, e.clientY, e.pointerId];
      });
      p.picture.addEventListener("pointermove", (e) => {
        if (!held || held[2] !== e.pointerId) return;
        const dx = e.clientX - held[0], dy = e.clientY - held[1];
        if (Math.hypot(dx, dy) < 3 && !p.picture.classList.contains("held")) return;
        if (!p.picture.classList.contains("held")) {
          p.picture.classList.add("held");
          p.picture.setPointerCapture(e.pointerId);
        }
        held = [e.clientX, e.clientY, e.pointerId];
        move(dx, dy, frame(p).k);
      });
      for (const end of ["pointerup", "pointercancel"])
        p.picture.addEventListener(end, () => {
          held = null;
          p.picture.classList.remove("held");
        });
      new ResizeObserver(() => draw(p)).observe(p.picture);
    }

    return {panel, draw: drawAll, select, mark, zoomBy, reset, camera, selected: () => selected};
  }
  return {make, icon};
})();
