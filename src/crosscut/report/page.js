// Draw the tree in any size, open and close subtrees, zoom, cut nodes, and try a row. Without this script the page shows the
// chosen tree, or the part of it with most rows.
"use strict";
(() => {
  const { tree, trial } = JSON.parse(document.getElementById("page-data").textContent);
  const find = (id) => document.getElementById(id);
  const element = (kind, text, cls) => {
    const made = document.createElement(kind);
    if (text !== undefined) made.textContent = text;
    if (cls) made.className = cls;
    return made;
  };
  const percent = (share) => `${Math.round(100 * share)}%`;
  const short = (value) => String(Number(value.toPrecision(4)));
  const drawing = find("drawing");
  const detail = find("detail");
  const form = find("row");

  // the tree: what is shown depends on the size, on nodes that were cut, and on subtrees that are closed
  const sizes = [...document.querySelectorAll("template.size")];
  const range = find("leaves");
  const nodes = tree.nodes.map((node, number) => ({ ...node, number, children: [] }));
  for (const node of nodes) if (node.parent >= 0) nodes[node.parent].children.push(node);
  const chosenSize = sizes.findIndex((size) => "chosen" in size.dataset);
  const cuts = new Set(), closed = new Set();
  let size = chosenSize, zoom = 1, selected = null, natural = [1, 1], lit = new Set();
  const inner = (node) => size < node.level && !cuts.has(node);
  const open = (node) => inner(node) && !closed.has(node) && node.children.length > 0;
  const prediction = (node) => tree.predictions[tree.sizes[size].predictions][node.number];
  const leavesBelow = (node) => inner(node) && node.children.length ? node.children.reduce((sum, child) => sum + leavesBelow(child), 0) : 1;
  const path = (node) => node.parent < 0 ? [node] : [...path(nodes[node.parent]), node];
  const rowsOf = (node) => `${node.rows.toLocaleString("en")} row${node.rows === 1 ? "" : "s"}`;

  const HEIGHT = 60, GAP = 12, BETWEEN = 38, NARROW = 112, WIDE = 236, INDENT = 16, OUTLINE = 640;
  const LETTER = { condition: 7, label: 8.8, rows: 7 }; // average width of a letter
  const picture = (kind, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const shortened = (text, letters) => {
    if (text.length <= letters) return text;
    const end = Math.floor((letters - 1) / 3);
    return `${text.slice(0, letters - 1 - end)}…${text.slice(text.length - end)}`;
  };
  function lines(node) {
    const [label, majority] = prediction(node);
    const more = inner(node) && !open(node);
    const shown = { condition: node.condition, label: inner(node) ? `${node.column}${more ? "?" : "?"}` : label, rows: rowsOf(node) + (majority ? `, ${majority}` : "") };
    return Object.entries(shown).filter(([, text]) => text);
  }
  const visible = () => {
    const shown = [];
    const add = (node, depth) => {
      shown.push(Object.assign(node, { depth }));
      if (open(node)) for (const child of node.children) add(child, depth + 1);
    };
    add(nodes[0], 0);
    return shown;
  };
  // subtrees are pushed together until their outlines touch on some level (Reingold and Tilford 1981)
  function arrange(node, centred) {
    const first = [], last = [], places = [];
    for (const child of open(node) ? node.children : []) {
      const [begin, end] = arrange(child, centred);
      const place = last.length ? Math.max(...end.map((_, k) => k < last.length ? last[k] - begin[k] : -Infinity)) + GAP : 0;
      places.push(place);
      begin.forEach((y, k) => { if (k >= first.length) first.push(place + y); });
      end.forEach((y, k) => { last[k] = place + y; });
    }
    const middle = places.length ? (places[0] + places[centred ? places.length - 1 : 0]) / 2 : 0;
    if (places.length) node.children.forEach((child, k) => { child.shift = places[k] - middle; });
    return [[-HEIGHT / 2, ...first.map((y) => y - middle)], [HEIGHT / 2, ...last.map((y) => y - middle)]];
  }
  function place(shown) {
    if (drawing.clientWidth < OUTLINE) { // one box below the other, as in a list of folders
      const width = Math.max(room()[0], 230);
      shown.forEach((node, k) => {
        const x = 1 + INDENT * Math.min(node.depth, 9);
        Object.assign(node, { x, y: 1 + k * (HEIGHT + 6), width: Math.max(width - x - 1, 210) });
      });
      return [Math.max(...shown.map((node) => node.x + node.width)) + 1, shown.length * (HEIGHT + 6)];
    }
    const few = shown.filter((node) => !open(node)).length <= 8;
    const [first, last] = arrange(nodes[0], few);
    const levels = [];
    for (const node of shown) {
      const wanted = 22 + Math.max(...lines(node).map(([style, text]) => text.length * LETTER[style])) + (inner(node) ? 22 : 0);
      levels[node.depth] = Math.min(WIDE, Math.max(NARROW, levels[node.depth] || 0, wanted));
      node.middle = node.parent < 0 ? GAP / 2 - Math.min(...first) : nodes[node.parent].middle + node.shift;
    }
    const left = levels.map((_, k) => 1 + levels.slice(0, k).reduce((sum, width) => sum + width + BETWEEN, 0));
    for (const node of shown) Object.assign(node, { x: left[node.depth], y: node.middle - HEIGHT / 2, width: levels[node.depth] });
    return [left[left.length - 1] + levels[levels.length - 1] + 1, Math.max(...last) - Math.min(...first) + GAP];
  }
  function edge(node) {
    const parent = nodes[node.parent];
    if (parent.x + parent.width > node.x) return `M${parent.x + 6} ${parent.y + HEIGHT}V${node.y + HEIGHT / 2}H${node.x}`;
    const [a, b, c, d] = [parent.x + parent.width, parent.y + HEIGHT / 2, node.x, node.y + HEIGHT / 2], middle = (a + c) / 2;
    return `M${a} ${b}C${middle} ${b} ${middle} ${d} ${c} ${d}`;
  }
  function box(node) {
    const [label, , colour, bar] = prediction(node);
    const kind = open(node) ? "test" : inner(node) ? "more" : "leaf";
    const hidden = inner(node) && !open(node) ? `, ${leavesBelow(node) + node.hidden} leaves below are closed` : "";
    const texts = lines(node), name = texts.map(([, text]) => text).join(", ") + hidden;
    const group = picture("g", { class: `node ${kind}${cuts.has(node) ? " cut" : ""}${node === selected ? " chosen" : ""}${lit.has(node.final_node) ? " path" : ""}`, "data-node": node.number, role: "button", tabindex: "0", "aria-label": name, transform: `translate(${node.x} ${node.y})` });
    if (inner(node) && node.children.length) group.setAttribute("aria-expanded", String(open(node)));
    group.append(picture("title", {}, name), picture("rect", { class: "box", width: node.width, height: HEIGHT, rx: 7 }));
    if (!inner(node) && colour !== null) group.append(picture("rect", { class: `c${colour}`, y: 8, width: 4, height: HEIGHT - 18, rx: 2 }));
    const room = node.width - 20 - (inner(node) && node.children.length ? 24 : 0), top = texts.length === 3 ? 17 : 25;
    texts.forEach(([style, text], k) => {
      const letters = Math.floor(room / LETTER[style]);
      group.append(picture("text", { class: style, x: 11, y: top + 16.5 * k }, shortened(text, letters)));
    });
    let at = 8;
    for (const [c, share] of bar) {
      const w = share * (node.width - 16);
      group.append(picture("rect", { class: `c${c}`, x: at, y: 54, width: w, height: 3.5 }));
      at += w;
    }
    if (inner(node) && node.children.length) {
      const toggle = picture("g", { class: "toggle", transform: `translate(${node.width - 17} ${HEIGHT / 2 - 3})` });
      toggle.append(picture("circle", { r: 15, class: "target" }), picture("circle", { r: 9 }), picture("path", { d: open(node) ? "M-4 0H4" : "M-4 0H4M0 -4V4" }));
      group.append(toggle);
    }
    return group;
  }
  function draw() {
    const focused = drawing.contains(document.activeElement) && document.activeElement.dataset.node;
    const shown = visible();
    natural = place(shown);
    const [w, h] = natural;
    const svg = picture("svg", { class: "tree", viewBox: `0 0 ${w} ${h}`, role: "group", "aria-label": `Decision tree with ${leavesBelow(nodes[0])} leaves` });
    for (const node of shown) if (node.parent >= 0) svg.append(picture("path", { class: "edge", d: edge(node) }));
    for (const node of shown) svg.append(box(node));
    drawing.replaceChildren(svg);
    scale();
    if (focused) drawing.querySelector(`[data-node="${focused}"]`)?.focus({ preventScroll: true });
    if (sizes.length) showResult();
    showCuts();
  }
  // the view: zoom, fit, overview
  const mapped = find("map");
  function scale() {
    const svg = drawing.firstElementChild;
    svg.style.width = `${natural[0] * zoom}px`;
    svg.style.height = `${natural[1] * zoom}px`;
    const larger = drawing.scrollWidth > drawing.clientWidth + 4 || drawing.scrollHeight > drawing.clientHeight + 4;
    mapped.toggleAttribute("hidden", !larger || drawing.clientWidth < OUTLINE);
    if (mapped.hasAttribute("hidden")) return;
    const ratio = Math.min(130 / natural[0], 150 / natural[1]);
    mapped.setAttribute("viewBox", `0 0 ${natural[0]} ${natural[1]}`);
    mapped.style.width = `${natural[0] * ratio}px`;
    mapped.style.height = `${natural[1] * ratio}px`;
    const boxes = visible().map((node) => `M${node.x} ${node.y}h${node.width}v${HEIGHT}h${-node.width}z`).join("");
    mapped.replaceChildren(picture("path", { d: boxes }), picture("rect", { id: "seen" }));
    see();
  }
  function see() {
    const seen = find("seen");
    if (!seen) return;
    const at = [drawing.scrollLeft, drawing.scrollTop, drawing.clientWidth, drawing.clientHeight].map((value) => value / zoom);
    ["x", "y", "width", "height"].forEach((name, k) => seen.setAttribute(name, at[k]));
  }
  drawing.addEventListener("scroll", see);
  mapped.addEventListener("pointerdown", (event) => {
    const go = (moved) => {
      const frame = mapped.getBoundingClientRect();
      drawing.scrollLeft = (moved.clientX - frame.left) / frame.width * natural[0] * zoom - drawing.clientWidth / 2;
      drawing.scrollTop = (moved.clientY - frame.top) / frame.height * natural[1] * zoom - drawing.clientHeight / 2;
    };
    go(event);
    mapped.setPointerCapture(event.pointerId);
    mapped.onpointermove = go;
    mapped.onpointerup = () => { mapped.onpointermove = null; };
  });
  function zoomTo(wanted) {
    const before = zoom, x = drawing.scrollLeft + drawing.clientWidth / 2, y = drawing.scrollTop + drawing.clientHeight / 2;
    zoom = Math.min(2.5, Math.max(0.15, wanted));
    scale();
    drawing.scrollLeft = x * zoom / before - drawing.clientWidth / 2;
    drawing.scrollTop = y * zoom / before - drawing.clientHeight / 2;
  }
  const room = () => [drawing.clientWidth - 2 * parseFloat(getComputedStyle(drawing).paddingLeft), Math.max(0.78 * innerHeight, 320)];
  function fit() {
    zoom = Math.max(0.15, Math.min(1, room()[0] / natural[0], room()[1] / natural[1]));
    scale();
  }
  function readable() {
    zoom = Math.min(1, Math.max(0.8, room()[0] / natural[0]));
    scale();
    drawing.scrollTo(0, 0);
  }
  // close what does not fit: of the open nodes, those with most rows stay open
  function overview() {
    closed.clear();
    const narrow = drawing.clientWidth < OUTLINE;
    const levels = narrow ? 9 : Math.max(2, Math.floor(room()[0] / 0.82 / (WIDE + BETWEEN)));
    let leaves = 1;
    const todo = inner(nodes[0]) ? [[nodes[0], 1]] : [];
    while (todo.length) {
      todo.sort(([a], [b]) => b.rows - a.rows);
      const [node, depth] = todo.shift();
      if (!node.children.length) continue;
      if (depth >= levels || leaves + node.children.length - 1 > (narrow ? 8 : 15)) { closed.add(node); continue; }
      leaves += node.children.length - 1;
      todo.push(...node.children.filter(inner).map((child) => [child, depth + 1]));
    }
    draw();
    readable();
  }
  function toggle(node, shut = !closed.has(node)) {
    if (!inner(node) || !node.children.length) return;
    if (shut) closed.add(node);
    else {
      closed.delete(node);
      for (const child of node.children) if (inner(child)) closed.add(child); // one level at a time
    }
    draw();
    reveal(node);
  }
  function reveal(node) {
    const frame = drawing.getBoundingClientRect(), own = drawing.querySelector(`[data-node="${node.number}"]`)?.getBoundingClientRect();
    if (!own) return;
    if (own.left < frame.left || own.right > frame.right) drawing.scrollLeft += own.left - frame.left - 30;
    if (own.top < frame.top || own.bottom > frame.bottom) drawing.scrollTop += own.top - frame.top - 30;
  }
  find("zoom-in").addEventListener("click", () => zoomTo(zoom * 1.25));
  find("zoom-out").addEventListener("click", () => zoomTo(zoom / 1.25));
  find("fit").addEventListener("click", fit);
  find("expand").addEventListener("click", () => { closed.clear(); draw(); readable(); });
  find("collapse").addEventListener("click", overview);
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls; pinching a touchpad sends ctrl
    event.preventDefault();
    zoomTo(zoom * Math.exp(-event.deltaY / 300));
  }, { passive: false });
  const fingers = new Map();
  let start = null, dragged = false;
  drawing.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event);
    dragged = false;
    if (event.pointerType === "mouse" && event.button === 0) start = [event.clientX + drawing.scrollLeft, event.clientY + drawing.scrollTop];
  });
  drawing.addEventListener("pointermove", (event) => {
    if (fingers.size === 2 && fingers.has(event.pointerId)) {
      const apart = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY); };
      const before = apart();
      fingers.set(event.pointerId, event);
      if (before) zoomTo(zoom * apart() / before);
    } else if (start && event.buttons === 1) {
      const [x, y] = [start[0] - event.clientX, start[1] - event.clientY];
      if (Math.hypot(x - drawing.scrollLeft, y - drawing.scrollTop) > 4 || dragged) { dragged = true; drawing.scrollTo(x, y); }
    }
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) drawing.addEventListener(end, (event) => { fingers.delete(event.pointerId); start = null; });

  // a node
  const loss = (size, change = 0) => {
    const mean = (tree.sizes[size].loss + change) / tree.held_out_rows;
    if (tree.measure === "correct") return `correct for ${(100 * (1 - mean)).toFixed(1)} of 100 held-out rows`;
    return tree.measure === "cost" ? `mean cost ${short(mean)} per held-out row` : `mean absolute error ${short(mean)} on held-out rows`;
  };
  const above = (node, others) => path(node).slice(0, -1).some((other) => others.has(other));
  const cutHere = () => [...cuts].filter((node) => size < node.level && !above(node, cuts));
  const changeOf = (nodes) => nodes.reduce((sum, node) => sum + tree.sizes[size].change[node.number], 0);
  function describe(node) {
    selected = node;
    drawing.querySelectorAll(".node.chosen").forEach((other) => other.classList.remove("chosen"));
    drawing.querySelector(`[data-node="${node.number}"]`)?.classList.add("chosen");
    const facts = element("div");
    const list = element("ol");
    const way = path(node);
    for (const step of way.slice(1)) list.append(element("li", step.condition));
    facts.append(element("h3", way.length > 1 ? "Path to this node" : "All rows"), list);
    facts.append(element("p", `${rowsOf(node)}${node.held ? `, ${node.held}` : ""}`));
    facts.append(element("p", node.mean ? `Mean: ${node.mean}` : node.shares.map(([name, share]) => `${name} ${percent(share)}`).join(", ")));
    if (size < node.level) facts.append(...cutting(node));
    const folds = element("div");
    if (node.folds) {
      folds.append(element("h3", node.folds.length ? "Trees of the folds at this node" : "No tree of a fold has this node"));
      const table = element("table");
      const head = table.createTHead().insertRow();
      for (const title of ["fold", "rows", "split or prediction"]) head.append(element("th", title, "left"));
      const body = table.createTBody();
      for (const [fold, rows, action] of node.folds) {
        const line = body.insertRow();
        line.append(element("td", String(fold)), element("td", rows.toLocaleString("en")), element("td", action, "left"));
      }
      const scroll = element("div", undefined, "scroll tall");
      scroll.tabIndex = 0;
      scroll.append(table);
      if (node.folds.length) folds.append(scroll);
    }
    const pair = element("div", undefined, "pair");
    pair.append(facts, folds);
    detail.replaceChildren(pair);
    const crumbs = find("crumbs");
    crumbs.hidden = false;
    crumbs.replaceChildren(...way.map((step) => {
      const crumb = element("button", step.condition || "All rows");
      crumb.type = "button";
      crumb.addEventListener("click", () => go(step));
      return crumb;
    }));
  }
  function go(node) {
    for (const step of path(node).slice(0, -1)) closed.delete(step);
    draw();
    describe(node);
    reveal(node);
  }
  // what if the subtree below a node were cut?
  function cutting(node) {
    const others = cutHere().filter((other) => other !== node && !path(other).includes(node));
    const now = changeOf(others), after = now + tree.sizes[size].change[node.number];
    const n = tree.folds, here = node.folds_here;
    const text = element("p", `Without its subtree: ${loss(size, after)} (with it: ${loss(size, now)}). `, "what-if");
    text.append(element("small", here === n ? `All ${n} fold trees have this node, and are cut there as well.` : `${here} of ${n} fold trees have this node and are cut there; for the rows of the others the figure is that of their own trees.`));
    const button = element("button", cuts.has(node) ? "Restore the subtree" : "Cut here");
    button.type = "button";
    button.disabled = !cuts.has(node) && above(node, cuts);
    button.addEventListener("click", () => {
      if (!cuts.delete(node)) cuts.add(node);
      draw();
      describe(node);
    });
    return [text, button];
  }
  let address = null;
  function showCuts() {
    const cut = cutHere();
    find("cuts").hidden = false;
    find("undo").hidden = !cuts.size;
    find("cut-result").textContent = cut.length ? `Cut at ${cut.length} node${cut.length > 1 ? "s" : ""}: ${leavesBelow(nodes[0])} leaves, ${loss(size, changeOf(cut))} instead of ${loss(size)}.` : "";
    if (address) URL.revokeObjectURL(address);
    address = URL.createObjectURL(new Blob([ruleText()], { type: "text/plain" }));
    find("rules").href = address;
  }
  function ruleText() {
    const rules = [];
    const add = (node) => {
      if (inner(node) && node.children.length) return node.children.forEach(add);
      const [label, majority] = prediction(node), conditions = path(node).slice(1).map((step) => step.condition);
      rules.push(`if ${conditions.join(" and ") || "always"} then ${label} (${rowsOf(node)}${majority ? `, ${majority}` : ""})`);
    };
    add(nodes[0]);
    const cut = cutHere();
    return `${document.title}: ${rules.length} rules, ${loss(size, changeOf(cut))}\n\n${rules.join("\n")}\n`;
  }
  find("undo").addEventListener("click", () => { cuts.clear(); draw(); if (selected) describe(selected); });
  drawing.addEventListener("click", (event) => {
    if (dragged) return;
    const group = event.target.closest(".node");
    if (!group) return;
    const node = nodes[group.dataset.node];
    if (event.target.closest(".toggle")) toggle(node); else describe(node);
  });
  drawing.addEventListener("keydown", (event) => {
    const keys = { "+": () => zoomTo(zoom * 1.25), "=": () => zoomTo(zoom * 1.25), "-": () => zoomTo(zoom / 1.25), 0: fit };
    const group = event.target.closest(".node"), node = group && nodes[group.dataset.node];
    if (node) Object.assign(keys, { Enter: () => describe(node), " ": () => describe(node), ArrowRight: () => toggle(node, false), ArrowLeft: () => toggle(node, true) });
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  // the size
  function showResult() {
    const { leaves } = sizes[size].dataset;
    find("size-result").textContent = `${leaves}: ${loss(size)}${size === chosenSize ? " (chosen)" : ""}`;
    range?.setAttribute("aria-valuetext", find("size-result").textContent);
    if (range) find("reset").disabled = size === chosenSize;
  }
  function resize() {
    size = sizes.length - 1 - Number(range.value);
    find("outcome").replaceChildren(...sizes[size].content.cloneNode(true).childNodes);
    overview();
    if (selected) describe(selected);
    if (form) predict();
  }
  // a row
  function field(column) {
    const label = element("label", column.name);
    let input;
    if (column.kind === "nominal" || column.kind === "boolean") {
      input = element("select");
      input.add(new Option("", ""));
      (column.categories || ["false", "true"]).forEach((name, code) => input.add(new Option(name, String(code))));
    } else {
      input = element("input");
      input.type = column.kind === "date" ? "datetime-local" : "number";
      input.step = "any";
    }
    if (column.typical !== null) input.value = String(column.typical);
    input.name = `c${column.f}`;
    label.append(input);
    return label;
  }
  function filled() {
    const row = {};
    for (const column of trial.columns) {
      const text = form.elements[`c${column.f}`].value;
      row[column.f] = text === "" ? NaN : Math.fround(column.kind === "date" ? Date.parse(`${text}Z`) / 86400000 : Number(text));
    }
    return row;
  }
  function branch(tree, node, value) {
    if (Number.isNaN(value)) return tree.missing[node];
    if (tree.cut[node] === null) {
      for (let entry = tree.at[node]; entry < tree.at[node + 1]; entry++)
        if (tree.categories[entry] === value) return tree.branches[entry];
      return tree.missing[node];
    }
    return tree.cut[node] === "inf" || value <= tree.cut[node] ? 0 : 1;
  }
  // the nodes that a row visits, each with the branch it takes; -1 at the leaf
  function visited(tree, row) {
    const steps = [[0, -1]];
    for (let node = 0; tree.feature[node] >= 0; ) {
      const taken = branch(tree, node, row[tree.feature[node]]);
      steps[steps.length - 1][1] = taken;
      node = tree.children[tree.first[node] + taken];
      steps.push([node, -1]);
    }
    return steps;
  }
  // the number of rows of a fold with a lower nonconformity score; counts are cumulative
  function below([scores, counts], value) {
    let low = 0, high = scores.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (scores[middle] < value) low = middle + 1; else high = middle;
    }
    return low ? counts[low - 1] : 0;
  }
  function predict(event) {
    const row = filled();
    const [final, ...folds] = trial.trees;
    const steps = visited(final, row);
    const leaf = steps[steps.length - 1][0];
    const value = final.value[leaf];
    const result = find("verdict");
    const predictions = folds.map((tree) => (tree.smooth || tree.value)[visited(tree, row).pop()[0]]);
    const level = percent(trial.level);
    result.replaceChildren();
    if (trial.classes) {
      result.append(element("p", trial.classes[final.decision[leaf]], "big"));
      const order = value.map((share, c) => [share, trial.classes[c]]).filter(([share]) => share > 0).sort((a, b) => b[0] - a[0]);
      result.append(element("p", order.slice(0, 8).map(([share, name]) => `${name} ${percent(share)}`).join(", ")));
      if (trial.scores) {
        const set = trial.classes.filter((_, c) =>
          predictions.reduce((sum, shares, fold) => sum + below(trial.scores[fold], 1 - shares[c]), 0) < trial.rank);
        result.append(element("p", `Prediction set (${level}): ${set.length ? set.join(", ") : "none fits"}`, "set"));
      }
    } else {
      result.append(element("p", short(value[0]), "big"));
      if (trial.reach !== undefined) {
        const means = predictions.map(([mean]) => mean);
        const low = Math.min(...means) - trial.reach, high = Math.max(...means) + trial.reach;
        const text = element("p", `Prediction interval (${level}): ${short(low)} to ${short(high)}`, "set");
        text.dataset.low = String(low);
        text.dataset.high = String(high);
        result.append(text);
      }
    }
    const conditions = steps.slice(0, -1).map(([node, taken]) => trial.conditions[node][taken]);
    result.append(element("p", conditions.length ? `Because ${conditions.join(", then ")}.` : "The tree is a single leaf.", "because"));
    lit = new Set(steps.map(([node]) => node));
    if (event) { // a value was entered: open the path
      for (const node of nodes) if (lit.has(node.final_node)) closed.delete(node);
      draw();
    }
    drawing.querySelectorAll(".node").forEach((group) => group.classList.toggle("path", lit.has(nodes[group.dataset.node].final_node)));
  }
  overview(); // replaces the drawing of the page without a script
  if (form) {
    find("trial").hidden = false;
    form.append(...trial.columns.map(field));
    form.addEventListener("input", predict);
    form.addEventListener("submit", (event) => event.preventDefault());
    predict();
  }
  find("controls").hidden = find("tools").hidden = false;
  if (range) {
    const first = range.value;
    range.addEventListener("input", resize);
    find("reset").addEventListener("click", () => { range.value = first; resize(); });
  }
  let before = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== before) { before = innerWidth; overview(); } });
})();
