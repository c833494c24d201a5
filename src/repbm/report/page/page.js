"use strict";
(() => {
  const ROW = 28, SPARE = 12;
  const { tables, words } = JSON.parse(document.getElementById("content").textContent);

  function said(sentence, given) {
    return sentence.replace(/\{(\w+)\}/g, (_, name) => given[name]);
  }

  function text(cell) {
    if (cell === null) return words.nothing;
    return typeof cell === "number" ? String(cell) : cell;
  }

  function short(number) {
    return Number(number.toPrecision(3)).toLocaleString("en");
  }

  // A table of which only the visible rows are in the page.
  function table(section, content) {
    const { names, cells } = content;
    const count = cells[0].length;
    const values = cells[content.value], doubtful = content.support === null ? null : cells[content.support];
    const worded = cells.map((own) => own.some((cell) => typeof cell === "string"));
    const searched = cells.filter((_, column) => column !== content.nearest);
    const box = section.querySelector(".scroll");
    const head = box.querySelector("thead"), body = box.querySelector("tbody");
    const search = section.querySelector("input[type=search]"), status = section.querySelector(".count");
    const least = section.querySelector(".from"), most = section.querySelector(".to");
    const all = Uint32Array.from({ length: count }, (_, k) => k);
    let shown = all, sorted = null, descending = false, written = null, begun = -1;

    const line = document.createElement("tr");
    names.forEach((name, column) => {
      const cell = document.createElement("th");
      cell.scope = "col";
      if (worded[column]) cell.className = "words";
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
      const low = least.value === "" ? -Infinity : Number(least.value);
      const high = most.value === "" ? Infinity : Number(most.value);
      const within = low > -Infinity || high < Infinity;
      if (wanted && written === null) {
        written = Array.from(all, (k) => searched.map((own) => text(own[k])).join("\n").toLowerCase());
      }
      shown = all.filter((k) => (!wanted || written[k].includes(wanted))
        && (!within || (values[k] !== null && values[k] >= low && values[k] <= high)));
      if (sorted !== null) shown.sort(compare);
      const numbers = { shown: shown.length.toLocaleString("en"), count: count.toLocaleString("en") };
      status.textContent = said(wanted || within ? words.found : words.individuals, numbers);
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
      const last = Math.min(shown.length, first + Math.ceil((box.clientHeight || 420) / ROW) + 2 * SPARE);
      if (!always && first === begun) return;
      begun = first;
      const rows = document.createDocumentFragment();
      if (first) rows.append(gap(first));
      for (let at = first; at < last; at++) {
        const line = document.createElement("tr");
        for (const [column, own] of cells.entries()) {
          const cell = document.createElement("td");
          cell.textContent = text(own[shown[at]]);
          if (worded[column]) cell.className = "words";
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
    [search, least, most].forEach((input) => input.addEventListener("input", refresh));
    section.querySelector(".clear").addEventListener("click", () => {
      search.value = least.value = most.value = "";
      section.dispatchEvent(new Event("cleared"));
      refresh();
    });
    refresh();

    // Who has a value between two: as text, their means beside those of all.
    function group(low, high) {
      least.value = low;
      most.value = high;
      refresh();
      const list = [];
      // Of a category, how many are of the one that differs the most.
      const share = (own, rows, word) => rows.reduce((sum, k) => sum + (own[k] === word), 0) / (rows.length || 1);
      for (const column of content.states) {
        const own = cells[column];
        if (worded[column]) {
          const known = new Set(own.filter((word) => word !== null));
          if (known.size > 20) continue;
          let most = null;
          for (const word of known) {
            const pair = [share(own, shown, word), share(own, all, word)];
            if (most === null || Math.abs(pair[0] - pair[1]) > Math.abs(most[1] - most[2])) most = [word, ...pair];
          }
          const [here, everywhere] = most.slice(1).map((part) => `${Math.round(100 * part)}%`);
          list.push(said(words.beside, { name: `${names[column]} ${most[0]}`, own: here, all: everywhere }));
          continue;
        }
        const mean = (rows) => {
          let sum = 0, known = 0;
          for (const k of rows) if (typeof own[k] === "number") { sum += own[k]; known += 1; }
          return known ? sum / known : null;
        };
        const [here, everywhere] = [mean(shown), mean(all)];
        if (here !== null) list.push(said(words.beside, { name: names[column], own: short(here), all: short(everywhere) }));
      }
      const numbers = { shown: shown.length.toLocaleString("en"), count: count.toLocaleString("en") };
      return said(words.group, { ...numbers, low: short(low), high: short(high), list: list.join(", ") });
    }
    return group;
  }

  const groups = new Map();
  document.querySelectorAll("section.people").forEach((section) => {
    const content = tables[Number(section.dataset.table)];
    if (content) groups.set(section.dataset.table, table(section, content));
  });

  // Dragging over the bars of a chart picks the individuals behind them.
  document.querySelectorAll("figure[data-brush]").forEach((figure) => {
    const group = groups.get(figure.dataset.brush), content = tables[Number(figure.dataset.brush)];
    const bars = [...figure.querySelectorAll("[aria-roledescription=bar]")];
    if (!group || !content || bars.length + 1 !== content.edges.length) return;
    const told = figure.parentElement.querySelector(".group");
    const section = document.querySelector(`section.people[data-table="${figure.dataset.brush}"]`);
    let begun = null;
    function bar(event) {
      let best = 0, nearest = Infinity;
      bars.forEach((one, k) => {
        const place = one.getBoundingClientRect();
        const away = Math.abs(event.clientX - (place.left + place.right) / 2);
        if (away < nearest) [best, nearest] = [k, away];
      });
      return best;
    }
    function pick(event) {
      const [first, last] = [begun, bar(event)].sort((a, b) => a - b);
      bars.forEach((one, k) => one.classList.toggle("out", k < first || k > last));
      const low = first === 0 ? content.least : content.edges[first];
      const high = last === bars.length - 1 ? content.most : content.edges[last + 1];
      told.textContent = group(low, high);
      told.hidden = false;
    }
    figure.addEventListener("pointerdown", (event) => { begun = bar(event); pick(event); });
    figure.addEventListener("pointermove", (event) => { if (begun !== null) pick(event); });
    ["pointerup", "pointerleave", "pointercancel"].forEach((end) => figure.addEventListener(end, () => { begun = null; }));
    section.addEventListener("cleared", () => {
      bars.forEach((one) => one.classList.remove("out"));
      told.hidden = true;
    });
  });

  // A link to a part that is folded up opens it; so does printing.
  const folded = [...document.querySelectorAll("details")];
  function opened() {
    const part = location.hash.startsWith("#part-") ? document.getElementById(location.hash.slice(1)) : null;
    if (part) {
      part.querySelectorAll(":scope > details").forEach((one) => { one.open = true; });
      part.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", opened);
  opened();
  const every = document.getElementById("open-all");
  if (every) every.addEventListener("click", () => document.querySelectorAll("details.policy").forEach((one) => { one.open = true; }));
  let before = [];
  window.addEventListener("beforeprint", () => {
    before = folded.map((one) => one.open);
    folded.forEach((one) => { one.open = true; });
  });
  window.addEventListener("afterprint", () => folded.forEach((one, k) => { one.open = before[k]; }));

  // Marks of charts say what they are to screen readers; a pointer sees the same.
  const tip = document.getElementById("tip");
  document.addEventListener("pointermove", (event) => {
    const mark = event.target instanceof Element ? event.target.closest("figure [aria-label]") : null;
    const drawn = mark && !["axis", "legend", "title"].includes(mark.getAttribute("aria-roledescription"));
    const label = drawn && mark.getAttribute("role") === "graphics-symbol" ? mark.getAttribute("aria-label") : null;
    tip.hidden = !label;
    if (!label) return;
    tip.textContent = label;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - 330))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  });
})();
