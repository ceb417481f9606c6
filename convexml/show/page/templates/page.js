"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  for (const part of document.querySelectorAll("[data-script]")) part.hidden = false;

  // -- filter and sort: the rows of the matrix, and the problems below it ------------------------
  const form = byId("filter");
  const body = document.querySelector(".matrix tbody");
  const rows = [...body.rows];
  rows.forEach((row, place) => { row.dataset.place = place; });
  const heads = [...document.querySelectorAll(".matrix thead th")];
  const names = heads.map((head) => head.textContent);
  const articles = new Map(
    [...document.querySelectorAll("article")].map((each) => [each.dataset.name, each]));
  const list = byId("problems");

  const orders = {
    place: (a, b) => a.dataset.place - b.dataset.place,
    name: (a, b) => a.dataset.name.localeCompare(b.dataset.name),
    failing: (a, b) => b.dataset.failing - a.dataset.failing || orders.place(a, b),
    confirmed: (a, b) => a.dataset.confirmed - b.dataset.confirmed || orders.place(a, b),
    seconds: (a, b) => time(b) - time(a) || orders.place(a, b),
  };
  const time = (row) => (row.dataset.seconds === "inf" ? Number.MAX_VALUE : +row.dataset.seconds);

  const show = () => {
    const text = byId("by-problem").value.trim().toLowerCase();
    const column = names.indexOf(byId("by-solver").value);
    const kind = byId("by-kind").value;
    let shown = 0;
    for (const row of rows) {
      const cells = column > 0 ? [row.cells[column]] : [...row.cells].slice(1);
      const fits = `${row.dataset.name} ${row.dataset.title}`.toLowerCase().includes(text)
        && cells.some((cell) => cell.dataset.kind && (!kind || cell.dataset.kind === kind));
      row.hidden = !fits;
      const article = articles.get(row.dataset.name);
      if (article) article.hidden = !fits;
      shown += fits;
    }
    heads.forEach((head, k) => {
      const off = column > 0 && k > 0 && k !== column;
      head.hidden = off;
      for (const row of rows) row.cells[k].hidden = off;
    });
    byId("grid").hidden = !shown;
    for (const said of document.querySelectorAll("[data-none]")) said.hidden = shown > 0;
    byId("shown").textContent = `${shown} of ${rows.length} problems`;
  };
  const sort = () => {
    rows.sort(orders[byId("by-order").value]);
    for (const row of rows) {
      body.append(row);
      const article = articles.get(row.dataset.name);
      if (article) list.append(article);
    }
  };
  form.addEventListener("input", show);
  byId("by-order").addEventListener("change", sort);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { show(); sort(); }));
  show();

  for (const cell of body.querySelectorAll("a[aria-label]")) cell.title = cell.ariaLabel;

  // -- a link to a problem unfolds it and is where reading goes on -------------------------------
  const unfold = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("article > details");
    if (!fold) return;
    fold.open = true;
    fold.parentElement.hidden = false;  // a link leads there, whatever is filtered
    fold.firstElementChild.focus({ preventScroll: true });
    fold.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) unfold();
  });
  unfold();

  // -- all of it on paper; all numbers in a file -------------------------------------------------
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("article > details:not([open])")];
    for (const each of folded) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of folded) each.open = false; });
  byId("save").addEventListener("click", async () => {
    const bytes = Uint8Array.from(atob(byId("data").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await new Response(stream).blob());
    link.download = "comparison.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
})();
