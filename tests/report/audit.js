// What is wrong with the page as it is shown now: a list of sentences.
const wrong = [];
const luminance = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const parts = (colour) => { const n = colour.match(/[\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; };
const over = ([r, g, b, a], below) => [r, g, b].map((v, k) => v * a + below[k] * (1 - a));
function background(node) {
  const layers = [];
  for (let e = node; e; e = e.parentElement) {
    if (e instanceof SVGElement && e.tagName === "g" && e.querySelector(".box")) {
      layers.push(parts(getComputedStyle(e.querySelector(".box")).fill));
      continue;
    }
    layers.push(parts(getComputedStyle(e).backgroundColor));
    if (layers.at(-1)[3] === 1) break;
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
}
if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the window");
for (const e of document.querySelectorAll("body *")) {
  if (!e.checkVisibility({ visibilityProperty: true }) || e.closest("[disabled], .hidden, option, template")) continue;
  const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!text || ["TITLE", "SCRIPT", "STYLE", "title"].includes(e.tagName)) continue;
  const style = getComputedStyle(e);
  const behind = background(e);
  const own = over(parts(e instanceof SVGElement ? style.fill : style.color), behind);
  const [a, b] = [luminance(own), luminance(behind)].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) wrong.push(`contrast of ${e.textContent.trim().slice(0, 30)}`);
  const box = e.getBoundingClientRect();
  if (box.right > innerWidth + 1 && !e.closest(".scroll")) wrong.push(`outside: ${e.textContent.trim().slice(0, 30)}`);
}
for (const e of document.querySelectorAll("svg")) {
  if (!["img", "group"].includes(e.getAttribute("role")) || !e.getAttribute("aria-label")) wrong.push("a picture without words");
  const labels = [...e.querySelectorAll(".tick, .note")].filter((t) => t.checkVisibility());
  const boxes = labels.map((t) => t.getBoundingClientRect());
  boxes.forEach((p, i) => boxes.slice(i + 1).forEach((q, j) => {
    if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1)
      wrong.push(`labels collide: ${labels[i].textContent} and ${labels[i + 1 + j].textContent}`);
  }));
  for (const t of labels) {
    const p = t.getBoundingClientRect(), frame = e.getBoundingClientRect();
    if (p.left < frame.left - 1.5 || p.right > frame.right + 1.5) wrong.push(`label cut off: ${t.textContent}`);
  }
}
for (const t of document.querySelectorAll(".tree text")) {
  const own = t.getBoundingClientRect(), box = t.parentElement.querySelector(".box").getBoundingClientRect();
  if (own.right > box.right + 1) wrong.push(`text leaves its box: ${t.textContent}`);
}
for (const e of document.querySelectorAll("input, select")) if (!e.labels.length && !e.ariaLabel) wrong.push(`no label: ${e.name}`);
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
if (new Set(ids).size !== ids.length) wrong.push("an id is used twice");
for (const e of document.querySelectorAll("[aria-labelledby]")) if (!document.getElementById(e.getAttribute("aria-labelledby"))) wrong.push("a name that is absent");
const levels = [...document.querySelectorAll("h1, h2, h3")].map((e) => Number(e.tagName[1]));
if (levels[0] !== 1 || levels.some((level, k) => k && level > levels[k - 1] + 1)) wrong.push("headings skip a level");
if (performance.getEntriesByType("resource").length) wrong.push("a request to somewhere else");
return [...new Set(wrong)];
