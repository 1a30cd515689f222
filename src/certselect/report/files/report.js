"use strict";
// Sorting, filtering and paging of tables, the map's cells in words, light and dark. Text is only ever set as text.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);

  const toggle = byId("theme");
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);
  const nameToggle = () => {
    toggle.textContent = isDark() ? "Light colours" : "Dark colours";
  };
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameToggle();
  });
  systemDark.addEventListener("change", nameToggle);
  nameToggle();

  const counted = (number) => number.toLocaleString("en");
  const shown = (value) => {
    if (value === null) return "–";
    if (typeof value !== "number") return value;
    if (Math.abs(value) >= 1e9) return value.toExponential(1);
    if (Number.isInteger(value)) return counted(value);
    return Math.abs(value) >= 1e-3 ? value.toFixed(4) : value.toExponential(1);
  };
  // 0 % is nothing and 100 % is all.
  const percent = (part) => {
    if (part > 0 && part < 0.01) return "< 1 %";
    return part >= 0.995 && part < 1 ? "> 99 %" : `${(100 * part).toFixed(0)} %`;
  };

  // A row is its values, to sort and filter by, and its element, made when it is first shown.
  const rowsOfBody = (table) =>
    [...table.tBodies[0].rows].map((element) => ({
      element,
      text: element.textContent.toLowerCase(),
      values: [...element.cells].map((cell) => {
        if (!("value" in cell.dataset)) return cell.textContent.trim();
        return cell.dataset.value === "" || cell.dataset.value === "None" ? null : Number(cell.dataset.value);
      }),
    }));
  const rowsOfData = ({ names, rows }) =>
    rows.map((row) => {
      const reason = row.at(-1).replace(/\ue000(\d+)\ue000/g, (_, place) => names[place]);
      const values = [...row.slice(0, -1), reason];
      return { element: null, text: values.filter((value) => typeof value === "string").join(" ").toLowerCase(), values };
    });
  const makeElement = (row) => {
    const element = document.createElement("tr");
    row.values.forEach((value, place) => {
      const cell = document.createElement(place === 1 ? "th" : "td");
      if (place === 1) cell.scope = "row";
      if (typeof value === "number" || value === null) cell.className = "number";
      const inside = document.createElement("bdi");
      inside.textContent = shown(value);
      cell.append(inside);
      element.append(cell);
    });
    return element;
  };

  const alphabet = new Intl.Collator("en", { numeric: true }); // x2 before x10; made once, for that takes long
  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return typeof one === "number" && typeof other === "number" ? one - other : alphabet.compare(one, other);
  };

  const bringToLife = (table) => {
    const id = table.dataset.live;
    const data = byId(`data-${id}`);
    const rows = data ? rowsOfData(JSON.parse(data.textContent)) : rowsOfBody(table);
    const perPage = Number(table.dataset.page) || rows.length || 1;
    const [filter, count, back, next, where] = ["filter", "count", "back", "next", "page"].map((part) => byId(`${part}-${id}`));
    let sortedBy = null;
    let downwards = false;
    let page = 0;

    const show = () => {
      const wanted = filter.value.trim().toLowerCase();
      const found = wanted ? rows.filter((row) => row.text.includes(wanted)) : rows.slice();
      if (sortedBy !== null) {
        found.sort((a, b) => {
          const [one, other] = [a.values[sortedBy], b.values[sortedBy]];
          const order = compare(one, other);
          return downwards && one !== null && other !== null ? -order : order; // what is unknown stays last
        });
      }
      const pages = Math.max(1, Math.ceil(found.length / perPage));
      page = Math.min(page, pages - 1);
      const part = found.slice(page * perPage, (page + 1) * perPage);
      table.tBodies[0].replaceChildren(...part.map((row) => (row.element ??= makeElement(row))));
      count.textContent = wanted ? `${counted(found.length)} of ${counted(rows.length)}` : `${counted(rows.length)} in all`;
      if (where) {
        where.textContent = `Page ${counted(page + 1)} of ${counted(pages)}`;
        back.disabled = page === 0;
        next.disabled = page === pages - 1;
      }
    };

    [...table.tHead.rows[0].cells].forEach((cell, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        // Numbers are looked for from the largest, names from the first.
        downwards = sortedBy === place ? !downwards : cell.dataset.sort === "number" && place > 0;
        sortedBy = place;
        page = 0;
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", downwards ? "descending" : "ascending");
        show();
      });
    });
    filter.addEventListener("input", () => {
      page = 0;
      show();
    });
    if (where) {
      back.addEventListener("click", () => { page -= 1; show(); });
      next.addEventListener("click", () => { page += 1; show(); });
    }
    show();
  };
  document.querySelectorAll("table[data-live]").forEach(bringToLife);

  const map = byId("map");
  if (map) {
    const cells = [...map.querySelectorAll("rect")];
    const names = [...map.querySelectorAll(".label")].map((label) => label.textContent);
    const says = byId("map-says");
    const n = names.length;
    let at = -1;
    const point = (place) => {
      if (at >= 0) cells[at].classList.remove("at");
      at = place;
      cells[at].classList.add("at");
      const [row, column] = [Math.floor(at / n), at % n];
      const part = percent(Number(cells[at].dataset.part));
      says.textContent = row === column ? names[row] : `${names[row]} and ${names[column]} share ${part}`;
    };
    map.addEventListener("pointerover", (event) => {
      const place = cells.indexOf(event.target);
      if (place >= 0) point(place);
    });
    map.addEventListener("keydown", (event) => {
      const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
      if (!down && !right) return;
      event.preventDefault();
      const clamp = (value) => Math.max(0, Math.min(n - 1, value));
      point(at < 0 ? 0 : clamp(Math.floor(at / n) + down) * n + clamp((at % n) + right));
    });
  }
})();
