// Choose a node, another size of the tree, or a row to try; without this script the page shows the chosen tree.
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
    const told = nodes[box.dataset.node];
    const facts = element("div");
    const list = element("ol");
    for (const condition of told.way) list.append(element("li", condition));
    facts.append(element("h3", told.way.length ? "The way here" : "All rows"), list);
    facts.append(element("p", `${told.rows.toLocaleString("en")} rows${told.held ? `, ${told.held}` : ""}`));
    facts.append(element("p", told.mean ? `Mean: ${told.mean}` : told.shares.map(([name, share]) => `${name} ${percent(share)}`).join(", ")));
    const folds = element("div");
    if (told.folds) {
      folds.append(element("h3", told.folds.length ? "What the trees of the folds do here" : "No tree of a fold comes here by the same questions"));
      const table = element("table");
      const head = table.createTHead().insertRow();
      for (const title of ["fold", "rows", "asks or answers"]) head.append(element("th", title, "left"));
      const body = table.createTBody();
      for (const [fold, rows, does] of told.folds) {
        const line = body.insertRow();
        line.append(element("td", String(fold)), element("td", rows.toLocaleString("en")), element("td", does, "left"));
      }
      const scroll = element("div", undefined, "scroll tall");
      scroll.tabIndex = 0;
      scroll.append(table);
      if (told.folds.length) folds.append(scroll);
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
    find("size-said").textContent = `${size.dataset.leaves}: ${size.dataset.said}${chosen ? " (chosen)" : ""}`;
    range.setAttribute("aria-valuetext", find("size-said").textContent);
    find("reset").disabled = chosen;
    if (form) answer();
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
      const own = end > begin ? tree.branches[end - 1] : -1; // the last entry is for missing values
      return own >= 0 ? own : tree.missing[node];
    }
    if (tree.cut[node] === null) {
      const taken = tree.branches[tree.at[node] + value];
      return taken >= 0 ? taken : tree.missing[node];
    }
    return tree.cut[node] === "inf" || value <= tree.cut[node] ? 0 : 1;
  }
  function way(tree, row) {
    const found = [[0, -1]];
    for (let node = 0; tree.feature[node] >= 0; ) {
      const taken = branch(tree, node, row[tree.feature[node]]);
      found[found.length - 1][1] = taken;
      node = tree.children[tree.first[node] + taken];
      found.push([node, -1]);
    }
    return found;
  }
  // how many rows of a fold are less strange: counts are cumulative
  function below([strange, counts], value) {
    let low = 0, high = strange.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (strange[middle] < value) low = middle + 1; else high = middle;
    }
    return low ? counts[low - 1] : 0;
  }
  function answer() {
    const row = filled();
    const [final, ...folds] = trial.trees;
    const steps = way(final, row);
    const leaf = steps[steps.length - 1][0];
    const value = final.value[leaf];
    const verdict = find("verdict");
    const said = folds.map((tree) => tree.value[way(tree, row).pop()[0]]);
    const level = percent(trial.level);
    verdict.replaceChildren();
    if (trial.classes) {
      verdict.append(element("p", trial.classes[final.said[leaf]], "big"));
      const order = value.map((share, c) => [share, trial.classes[c]]).filter(([share]) => share > 0).sort((a, b) => b[0] - a[0]);
      verdict.append(element("p", order.slice(0, 8).map(([share, name]) => `${name} ${percent(share)}`).join(", ")));
      if (trial.strange) {
        const set = trial.classes.filter((_, c) =>
          said.reduce((sum, shares, fold) => sum + below(trial.strange[fold], 1 - shares[c]), 0) < trial.rank);
        verdict.append(element("p", `Prediction set (${level}): ${set.length ? set.join(", ") : "none fits"}`, "set"));
      }
    } else {
      verdict.append(element("p", short(value[0]), "big"));
      if (trial.reach !== undefined) {
        const means = said.map(([mean]) => mean);
        const low = Math.min(...means) - trial.reach, high = Math.max(...means) + trial.reach;
        const text = element("p", `Prediction interval (${level}): ${short(low)} to ${short(high)}`, "set");
        text.dataset.low = String(low);
        text.dataset.high = String(high);
        verdict.append(text);
      }
    }
    const path = steps.slice(0, -1).map(([node, taken]) => trial.asked[node][taken]);
    verdict.append(element("p", path.length ? `Because ${path.join(", then ")}.` : "The tree asks nothing.", "because"));
    const visited = new Set(steps.map(([node]) => node));
    drawing.querySelectorAll(".node").forEach((box) => box.classList.toggle("way", visited.has(nodes[box.dataset.node].own)));
  }
  if (form) {
    find("trial").hidden = false;
    form.append(...trial.columns.map(field));
    form.addEventListener("input", answer);
    form.addEventListener("submit", (event) => event.preventDefault());
    answer();
  }
  if (range) {
    const first = range.value;
    find("controls").hidden = false;
    range.addEventListener("input", resize);
    find("reset").addEventListener("click", () => { range.value = first; resize(); });
    resize();
  }
})();
