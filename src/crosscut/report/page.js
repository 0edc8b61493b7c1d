// Select a node, change the size of the tree, or try a row. Without this script the page shows the chosen tree.
"use strict";
(() => {
  const { nodes, trial } = JSON.parse(document.getElementById("page-data").textContent);
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

  // a node
  function describe(box) {
    drawing.querySelectorAll(".node.chosen").forEach((other) => other.classList.remove("chosen"));
    box.classList.add("chosen");
    const node = nodes[box.dataset.node];
    const facts = element("div");
    const list = element("ol");
    for (const condition of node.path) list.append(element("li", condition));
    facts.append(element("h3", node.path.length ? "Path to this node" : "All rows"), list);
    facts.append(element("p", `${node.rows.toLocaleString("en")} rows${node.held ? `, ${node.held}` : ""}`));
    facts.append(element("p", node.mean ? `Mean: ${node.mean}` : node.shares.map(([name, share]) => `${name} ${percent(share)}`).join(", ")));
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
  }
  drawing.addEventListener("click", (event) => {
    const box = event.target.closest(".node");
    if (box) describe(box);
  });
  drawing.addEventListener("keydown", (event) => {
    const box = event.target.closest(".node");
    if (!box || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    describe(box);
  });

  // the size
  const sizes = [...document.querySelectorAll("template.size")].reverse();
  const range = find("leaves");
  function resize() {
    const size = sizes[Number(range.value)];
    const [tree, outcome] = size.content.children;
    const chosen = "chosen" in size.dataset;
    drawing.replaceChildren(...tree.cloneNode(true).childNodes);
    find("outcome").replaceChildren(...outcome.cloneNode(true).childNodes);
    find("size-result").textContent = `${size.dataset.leaves}: ${size.dataset.result}${chosen ? " (chosen)" : ""}`;
    range.setAttribute("aria-valuetext", find("size-result").textContent);
    find("reset").disabled = chosen;
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
    if (Number.isNaN(value)) {
      const begin = tree.at[node], end = tree.at[node + 1];
      const taken = end > begin ? tree.branches[end - 1] : -1; // the last entry is for missing values
      return taken >= 0 ? taken : tree.missing[node];
    }
    if (tree.cut[node] === null) {
      const taken = tree.branches[tree.at[node] + value];
      return taken >= 0 ? taken : tree.missing[node];
    }
    return tree.cut[node] === "inf" || value <= tree.cut[node] ? 0 : 1;
  }
  // the nodes that a row visits, each with the branch it takes; -1 at the leaf
  function path(tree, row) {
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
  function predict() {
    const row = filled();
    const [final, ...folds] = trial.trees;
    const steps = path(final, row);
    const leaf = steps[steps.length - 1][0];
    const value = final.value[leaf];
    const result = find("verdict");
    const predictions = folds.map((tree) => (tree.smooth || tree.value)[path(tree, row).pop()[0]]);
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
    const visited = new Set(steps.map(([node]) => node));
    drawing.querySelectorAll(".node").forEach((box) => box.classList.toggle("path", visited.has(nodes[box.dataset.node].final_node)));
  }
  if (form) {
    find("trial").hidden = false;
    form.append(...trial.columns.map(field));
    form.addEventListener("input", predict);
    form.addEventListener("submit", (event) => event.preventDefault());
    predict();
  }
  if (range) {
    const first = range.value;
    find("controls").hidden = false;
    range.addEventListener("input", resize);
    find("reset").addEventListener("click", () => { range.value = first; resize(); });
    resize();
  }
})();
