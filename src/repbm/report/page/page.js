"use strict";
(() => {
  const ROW = 28, SPARE = 12;

  function text(cell) {
    if (cell === null) return "–";
    return typeof cell === "number" ? String(cell) : cell;
  }

  // A table of which only the visible rows are in the page.
  function table(section, content) {
    const { names, cells } = content;
    const count = cells[0].length;
    const doubtful = cells[names.indexOf("support")];
    const box = section.querySelector(".scroll");
    const head = box.querySelector("thead"), body = box.querySelector("tbody");
    const search = section.querySelector("input"), status = section.querySelector(".count");
    const all = Uint32Array.from({ length: count }, (_, k) => k);
    let shown = all, sorted = null, descending = false, words = null, begun = -1;

    const line = document.createElement("tr");
    names.forEach((name, column) => {
      const cell = document.createElement("th");
      cell.scope = "col";
      const button = document.createElement("button");
      button.textContent = name;
      button.addEventListener("click", () => {
        descending = sorted === column ? !descending : false;
        sorted = column;
        line.querySelectorAll("th").forEach((one) => one.removeAttribute("aria-sort"));
        cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
        refresh();
      });
      cell.append(button);
      line.append(cell);
    });
    head.append(line);

    const collator = new Intl.Collator("en", { numeric: true });
    function compare(a, b) {
      const own = cells[sorted], x = own[a], y = own[b];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      const order = typeof x === "number" && typeof y === "number" ? x - y : collator.compare(text(x), text(y));
      return (descending ? -order : order) || a - b;
    }

    function refresh() {
      const wanted = search.value.trim().toLowerCase();
      if (wanted && words === null) {
        words = Array.from(all, (k) => cells.map((own) => text(own[k])).join("\n").toLowerCase());
      }
      shown = wanted ? all.filter((k) => words[k].includes(wanted)) : all.slice();
      if (sorted !== null) shown.sort(compare);
      status.textContent = wanted
        ? `${shown.length.toLocaleString("en")} of ${count.toLocaleString("en")}`
        : `${count.toLocaleString("en")} individuals`;
      box.scrollTop = 0;
      draw(true);
    }

    function gap(rows) {
      const line = document.createElement("tr"), cell = document.createElement("td");
      line.className = "gap";
      line.setAttribute("aria-hidden", "true");
      cell.colSpan = names.length;
      cell.style.height = `${rows * ROW}px`;
      line.append(cell);
      return line;
    }

    function draw(always) {
      const first = Math.max(0, Math.floor(box.scrollTop / ROW) - SPARE);
      const last = Math.min(shown.length, first + Math.ceil(box.clientHeight / ROW) + 2 * SPARE);
      if (!always && first === begun) return;
      begun = first;
      const rows = document.createDocumentFragment();
      if (first) rows.append(gap(first));
      for (let at = first; at < last; at++) {
        const line = document.createElement("tr");
        for (const own of cells) {
          const cell = document.createElement("td");
          cell.textContent = text(own[shown[at]]);
          if (own === doubtful && own[shown[at]] !== null && own[shown[at]] < 0.5) cell.className = "low";
          line.append(cell);
        }
        rows.append(line);
      }
      if (last < shown.length) rows.append(gap(shown.length - last));
      body.replaceChildren(rows);
    }

    let waiting = false;
    box.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; draw(false); });
    });
    search.addEventListener("input", refresh);
    refresh();
  }

  const tables = JSON.parse(document.getElementById("tables").textContent);
  document.querySelectorAll("section.people").forEach((section) => {
    const content = tables[Number(section.dataset.table)];
    if (content) table(section, content);
  });

  // Links of the ranking go to the parts of the page by name: their orders differ.
  document.querySelectorAll("a[data-policy]").forEach((link) => {
    const part = [...document.querySelectorAll("article")].find((one) => one.dataset.policy === link.dataset.policy);
    if (part) link.setAttribute("href", `#${part.id}`);
  });

  // Marks of charts say what they are to screen readers; a pointer sees the same.
  const tip = document.getElementById("tip");
  document.addEventListener("pointermove", (event) => {
    const mark = event.target instanceof Element ? event.target.closest("figure [aria-label]") : null;
    const drawn = mark && !["axis", "legend", "title"].includes(mark.getAttribute("aria-roledescription"));
    const label = drawn && mark.getAttribute("role") === "graphics-symbol" ? mark.getAttribute("aria-label") : null;
    tip.hidden = !label;
    if (!label) return;
    tip.textContent = label;
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 330)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  });
})();
