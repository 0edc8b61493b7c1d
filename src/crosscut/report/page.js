// The forest: a tree view whose nodes are made when they are first opened, so that ten thousand of them cost nothing.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("forest-data").textContent);
  const view = document.getElementById("forest-tree");
  const detail = document.getElementById("detail");
  const highlight = document.getElementById("highlight");
  const MAX_OPEN = 1500; // lines "Expand all" may show
  const FIRST_OPEN = 40; // lines that are open at first: what fits a screen, and a sheet of paper
  let chosen = null; // the tree that is highlighted

  const name = (task) => (task === 0 ? "final tree" : `fold ${task}`);
  for (let task = 0; task < data.trees; task++) highlight.add(new Option(name(task), String(task)));

  function list(tasks) {
    const parts = tasks[0] === 0 ? ["final"] : [];
    const folds = tasks.filter((task) => task > 0);
    for (let k = 0; k < folds.length; ) {
      let end = k;
      while (end + 1 < folds.length && folds[end + 1] === folds[end] + 1) end++;
      parts.push(end === k ? `${folds[k]}` : `${folds[k]}–${folds[end]}`);
      k = end + 1;
    }
    return parts.join(", ");
  }

  const element = (kind, cls, text) => {
    const made = document.createElement(kind);
    if (cls) made.className = cls;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  function outcome(node, tasks) {
    // what the highlighted tree, else the first one, says here
    const [, rows, said, share] = data.nodes[node];
    const own = data.sets[data.nodes[node][0]];
    const at = Math.max(0, own.indexOf(chosen !== null && tasks.includes(chosen) ? chosen : tasks[0]));
    const shown = data.classes ? `${data.classes[said[at]]}, ${share[at]}%` : String(said[at]);
    return { shown, rows: `${rows[at].toLocaleString("en")} rows` };
  }

  // A line is a node, or one test of a fork: { node, group } with group null for the node itself
  function line(node, group, condition) {
    const [set, , , , groups] = data.nodes[node];
    const all = data.sets[set];
    const tasks = group === null ? all : data.sets[groups[group][0]];
    const going = groups.reduce((sum, g) => sum + data.sets[g[0]].length, 0);
    const forked = groups.length > 1 || (groups.length === 1 && going < all.length);
    const item = element("div");
    item.setAttribute("role", "none");
    const row = element("div", "row");
    row.setAttribute("role", "treeitem");
    row.tabIndex = -1;
    row.append(element("span", "toggle"));
    row.dataset.tasks = tasks.join(" ");
    row.dataset.node = node;
    if (condition) row.append(element("span", "condition", condition));
    const splits = group !== null || groups.length > 0;
    if (group === null && forked) {
      row.append(element("span", "square"));
      row.append(element("span", "group", groups.length > 1 ? `fork: ${groups.length} different tests` : "some trees stop here"));
      row.classList.add("fork");
    } else if (splits) {
      row.append(element("span", "asks", `${groups[group ?? 0][1]}?`));
    } else {
      row.append(element("span", "says"), element("span", "trees rows"));
    }
    row.append(element("span", "trees", tasks.length === data.trees ? "all trees" : `${tasks.length} of ${data.trees}: ${list(tasks)}`));
    item.append(row);
    const below = [];
    if (group === null && forked) {
      groups.forEach((_, g) => below.push([node, g, ""]));
      if (going < all.length) below.push([node, "stop", ""]);
    } else if (splits) {
      for (const [asked, child] of groups[group ?? 0][2]) below.push([child, null, asked]);
    }
    row.below = below;
    row.classList.add(below.length ? "closed" : "leaf");
    if (below.length) row.setAttribute("aria-expanded", "false");
    paint(row);
    return item;
  }

  function stopLine(node) {
    const [set, , , , groups] = data.nodes[node];
    const going = new Set(groups.flatMap((g) => data.sets[g[0]]));
    const tasks = data.sets[set].filter((task) => !going.has(task));
    const item = element("div");
    item.setAttribute("role", "none");
    const row = element("div", "row leaf");
    row.setAttribute("role", "treeitem");
    row.tabIndex = -1;
    row.dataset.tasks = tasks.join(" ");
    row.dataset.node = node;
    row.append(element("span", "toggle"), element("span", "", "stop:"), element("span", "says"), element("span", "trees rows"),
      element("span", "trees", `${tasks.length} of ${data.trees}: ${list(tasks)}`));
    row.below = [];
    item.append(row);
    paint(row);
    return item;
  }

  function open(row) {
    if (!row.below.length || row.classList.contains("open")) return;
    if (!row.nextElementSibling) {
      const children = element("div", "children");
      children.setAttribute("role", "group");
      for (const [node, group, condition] of row.below) children.append(group === "stop" ? stopLine(node) : line(node, group, condition));
      row.parentElement.append(children);
    }
    row.nextElementSibling.hidden = false;
    row.classList.replace("closed", "open");
    row.setAttribute("aria-expanded", "true");
  }

  function close(row) {
    if (!row.classList.contains("open")) return;
    row.nextElementSibling.hidden = true;
    row.classList.replace("open", "closed");
    row.setAttribute("aria-expanded", "false");
  }

  function paint(row) {
    const tasks = row.dataset.tasks.split(" ").map(Number);
    row.classList.toggle("dim", chosen !== null && !tasks.includes(chosen));
    row.classList.toggle("lit", chosen !== null && tasks.includes(chosen));
    const says = row.querySelector(".says");
    if (!says) return;
    const { shown, rows } = outcome(row.dataset.node, tasks);
    says.textContent = shown;
    row.querySelector(".rows").textContent = rows;
  }

  function describe(row) {
    const [set, rows, said, share] = data.nodes[row.dataset.node];
    const shown = new Set(row.dataset.tasks.split(" ").map(Number));
    detail.replaceChildren();
    detail.append(element("p", "asks", [...row.children].slice(1, 3).map((part) => part.textContent).filter(Boolean).join(" ")));
    const table = element("table");
    const head = table.createTHead().insertRow();
    for (const title of ["tree", "rows", "prediction"]) head.append(element("th", "", title));
    const body = table.createTBody();
    data.sets[set].forEach((task, k) => {
      if (!shown.has(task) || body.rows.length >= 60) return;
      const cells = body.insertRow();
      cells.append(element("td", "", name(task)), element("td", "", rows[k].toLocaleString("en")),
        element("td", "", data.classes ? `${data.classes[said[k]]} ${share[k]}%` : String(said[k])));
    });
    detail.append(table);
  }

  const visible = () => [...view.querySelectorAll(".row")].filter((row) => !row.closest("[hidden]"));

  function focus(row) {
    if (!row) return;
    view.querySelectorAll('.row[tabindex="0"]').forEach((other) => { other.tabIndex = -1; });
    row.tabIndex = 0;
    row.focus();
    describe(row);
  }

  view.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    row.classList.contains("open") ? close(row) : open(row);
    focus(row);
  });
  view.addEventListener("mouseover", (event) => {
    const row = event.target.closest(".row");
    if (row) describe(row);
  });
  view.addEventListener("keydown", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    const rows = visible();
    const at = rows.indexOf(row);
    const parent = row.parentElement.parentElement.closest(".children");
    const keys = {
      ArrowDown: () => focus(rows[at + 1]),
      ArrowUp: () => focus(rows[at - 1]),
      Home: () => focus(rows[0]),
      End: () => focus(rows[rows.length - 1]),
      ArrowRight: () => (row.classList.contains("closed") ? open(row) : row.classList.contains("open") && focus(rows[at + 1])),
      ArrowLeft: () => (row.classList.contains("open") ? close(row) : parent && focus(parent.previousElementSibling)),
      Enter: () => (row.classList.contains("open") ? close(row) : open(row)),
      " ": () => (row.classList.contains("open") ? close(row) : open(row)),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  highlight.addEventListener("change", () => {
    chosen = highlight.value === "" ? null : Number(highlight.value);
    view.querySelectorAll(".row").forEach(paint);
  });

  // breadth first, so that what the limit leaves out is the deepest
  function openWhile(wanted, most = MAX_OPEN) {
    const todo = [...view.querySelectorAll(".row")];
    let shown = todo.length;
    while (todo.length && shown < most) {
      const row = todo.shift();
      if (!wanted(row) || !row.below.length) continue;
      open(row);
      const made = [...row.nextElementSibling.children].map((item) => item.firstElementChild);
      shown += made.length;
      todo.push(...made);
    }
  }
  document.getElementById("expand").addEventListener("click", () => openWhile(() => true));
  document.getElementById("collapse").addEventListener("click", () => visible().reverse().forEach(close));
  // down to the first forks on every path, and their tests
  document.getElementById("expand-forks").addEventListener("click", () =>
    openWhile((row) => row.classList.contains("fork") || row.dataset.tasks.split(" ").length === data.trees));

  const root = line(0, null, "");
  view.append(root);
  root.firstElementChild.tabIndex = 0;
  openWhile(() => true, FIRST_OPEN); // paper shows what is open
})();
