// What comes from the table is only ever put into text nodes and class names
// of our own, so that no record can be more than text.

// el makes an element. Children are elements or text; what is empty is left out.
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) e.setAttribute(name, value);
  }
  e.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== ""));
  return e;
}

// mark is a word with a colour. Only known words have one.
export function mark(word, kind = word) {
  return el("span", { class: `mark ${/^[A-Za-z]+$/.test(kind) ? kind : ""}` }, word);
}

export const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

let offset = 0; // milliseconds that the server's clock is ahead of ours

export function setClock(serverTime) {
  offset = Date.parse(serverTime) - Date.now();
}

// seconds from a time to another, or null if there is none: a zero time of Go
// is none.
export function secondsBetween(time, end) {
  const t = Date.parse(time ?? "");
  return Number.isNaN(t) || t < 0 ? null : Math.max(0, (new Date(end) - t) / 1000);
}

export const secondsSince = (time) => secondsBetween(time, Date.now() + offset);

export function span(seconds) {
  if (seconds === null) return "never";
  if (seconds < 100) return `${Math.floor(seconds)} s`;
  if (seconds < 100 * 60) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

// age is an element that grows older by itself, see grow.
export function age(time, after = "") {
  const e = el("time", { datetime: time ?? "", title: time ?? "", "data-after": after });
  show(e);
  return e;
}

const show = (e) => { e.textContent = span(secondsSince(e.dateTime)) + e.dataset.after; };

export function grow() {
  document.querySelectorAll("time[data-after]").forEach(show);
}
