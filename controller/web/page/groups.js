// The table of groups and clusters. What did not change keeps its elements, so
// that the focus and what a screen reader reads stay where they are.
import { age, el, mark, plural } from "./dom.js";
import { cell, columns, healths, matches, nameOf, tally, targets } from "./model.js";

const table = document.getElementById("groups");
const heading = document.getElementById("columns");
const bodies = new Map(); // by ARN
const limit = 100; // targets that are shown at first

const words = { unregistered: "not registered", releasing: "leaving" };

// render shows the groups of the survey that match the filter.
export function render(survey, filter) {
  const ids = columns(survey);
  const titles = ["Target group", "Health", ...ids, "External"];
  if (heading.dataset.titles !== JSON.stringify(titles)) {
    heading.dataset.titles = JSON.stringify(titles);
    heading.replaceChildren(...titles.map((t) => el("th", { scope: "col" }, t)));
  }
  const states = new Map(survey.clusters.map((c) => [c.id, c]));
  const shown = [];
  for (const group of survey.groups) {
    const list = targets(group);
    if (!matches(group, list, filter)) continue;
    const body = bodies.get(group.targetGroup) ?? make(group.targetGroup);
    body.update(group, list, ids, states);
    shown.push(body.element);
  }
  for (const arn of bodies.keys()) {
    if (!survey.groups.some((g) => g.targetGroup === arn)) bodies.delete(arn);
  }
  const now = [...table.tBodies];
  if (now.length !== shown.length || now.some((b, i) => b !== shown[i])) {
    const focused = document.activeElement;
    now.filter((b) => !shown.includes(b)).forEach((b) => b.remove());
    shown.forEach((b, i) => { if (table.tBodies[i] !== b) table.insertBefore(b, table.tBodies[i] ?? null); });
    if (focused !== document.activeElement && focused.isConnected) focused.focus();
  }
  return shown.length;
}

// openGroups are the ARNs of the groups whose history is shown.
export const openGroups = () => [...bodies.keys()].filter((arn) => bodies.get(arn).isOpen());

export const showHistory = (arn, account) => bodies.get(arn)?.showHistory(account);

// replaceAfter replaces what follows an element. One that is taken out and put
// back, if only for a moment, loses the focus.
function replaceAfter(element, ...following) {
  while (element.nextSibling) element.nextSibling.remove();
  element.after(...following);
}

// make makes the rows of one group.
function make(arn) {
  const id = `detail-${bodies.size}-${Date.now()}`;
  const button = el("button", { type: "button", class: "group", "aria-expanded": "false", "aria-controls": id }, nameOf(arn));
  const title = el("th", { scope: "row" }, button);
  const row = el("tr", { class: "row" }, title);
  const targetsBox = el("div");
  const historyBox = el("div", {}, el("h3", {}, "Last 24 hours"), el("p", { class: "dim" }, "reading …"));
  const wide = el("td", {}, el("div", {}, el("p", { class: "arn code" }, arn), targetsBox, historyBox));
  const detail = el("tr", { class: "detail", id, hidden: "" }, wide);
  const element = el("tbody", {}, row, detail);
  let drawn = "";
  let account = "";
  let all = false;
  let last = [];

  const isOpen = () => !detail.hidden;
  const drawTargets = () => {
    if (isOpen()) targetsBox.replaceChildren(...targetTable(last, all, () => { all = true; drawTargets(); button.focus(); }));
  };
  button.addEventListener("click", () => {
    detail.hidden = !detail.hidden;
    button.setAttribute("aria-expanded", String(isOpen()));
    element.classList.toggle("open", isOpen());
    drawTargets();
    if (isOpen()) document.dispatchEvent(new CustomEvent("opened", { detail: arn }));
  });
  const body = {
    element, isOpen,
    update(group, list, ids, states) {
      const want = JSON.stringify([group, ids, ids.map((c) => states.get(c)?.state)]);
      if (want === drawn) return;
      drawn = want;
      last = list;
      replaceAfter(button, ...(group.missing ? [" ", mark("no such group", "gone")] : group.problem ? [" ", mark("not read", "gone")] : []));
      if (group.problem) title.append(el("div", { class: "dim" }, group.problem));
      for (const u of group.unreadable ?? []) title.append(el("div", { class: "dim" }, `record ${u.item} cannot be read: ${u.reason}`));
      replaceAfter(title, health(list), ...ids.map((c) => share(cell(group, c))), external(group));
      wide.colSpan = row.cells.length;
      drawTargets();
    },
    showHistory(a) {
      const want = JSON.stringify(a);
      if (want === account) return;
      account = want;
      historyBox.replaceChildren(el("h3", {}, "Last 24 hours"), history(a));
    },
  };
  bodies.set(arn, body);
  return body;
}

// health is a bar, and the same in words.
function health(list) {
  const { health, marks } = tally(list);
  const has = healths.filter((h) => health[h] > 0);
  const bar = el("div", { class: "stack", "aria-hidden": "true" }, has.map((h) => {
    const part = el("i", { class: h });
    part.style.flexGrow = health[h];
    return part;
  }));
  const text = has.map((h) => `${health[h]} ${words[h] ?? h}`).join(", ") || "no targets";
  const signs = ["blocked", "shared"].filter((m) => marks[m] > 0).map((m) => mark(`${marks[m]} ${m}`, m));
  return el("td", { class: "health" }, bar, el("span", { class: "dim" }, text), signs.length > 0 ? el("div", {}, signs) : "");
}

function share(c) {
  if (c.owners === 0) return el("td", { class: "dim" }, el("span", { "aria-label": "nothing" }, "–"));
  const notes = [];
  if (c.releasing > 0) notes.push(mark(`${c.releasing} leaving`, "releasing"));
  if (c.blocked > 0) notes.push(mark(`${c.blocked} blocked`, "blocked"));
  if (c.held === 0) return el("td", { class: "dim" }, notes.length > 0 ? notes : "no targets");
  const kind = c.held > 0 && c.healthy === 0 ? "zero" : c.healthy < c.held ? "less" : "";
  return el("td", { class: kind }, el("div", { class: "ratio" }, `${c.healthy}`, el("small", {}, ` of ${c.held} healthy`)), notes);
}

function external(group) {
  const n = group.external.filter((t) => !t.leaving).length;
  return n === 0 ? el("td", { class: "dim" }, el("span", { "aria-label": "none" }, "–")) : el("td", {}, mark(plural(n, "target"), "external"));
}

function targetTable(list, all, showAll) {
  if (list.length === 0) return [el("p", { class: "dim" }, "No targets.")];
  const rows = (all ? list : list.slice(0, limit)).map((t) => el("tr", {},
    el("th", { scope: "row", class: "code" }, t.target),
    el("td", {}, mark(t.health, t.kind)),
    el("td", {}, t.entries.length === 0 ? el("span", { class: "dim" }, t.marks.has("releasing") ? "in no record any more" : "no record names it") : t.entries.map((e) =>
      el("div", { class: "owner" }, e.owner, " ", el("span", { class: "dim" }, `${e.entry} for `, age(e.since))))),
    el("td", {}, [...t.marks].map((m) => mark(words[m] ?? m, m)))));
  const head = el("tr", {}, ["Target", "Health", "Owner", "Marks"].map((h) => el("th", { scope: "col" }, h)));
  const parts = [el("h3", {}, plural(list.length, "target")), el("table", {}, el("thead", {}, head), el("tbody", {}, rows))];
  if (!all && list.length > limit) {
    const more = el("button", { type: "button", class: "more" }, `Show all ${list.length}`);
    more.addEventListener("click", showAll);
    parts.push(more);
  }
  return parts;
}

const happened = { gaveUp: "gave up", missing: "found missing" };

function history(account) {
  if (account.error) return el("p", { class: "dim" }, `The history cannot be read: ${account.error}`);
  if (account.entries.length === 0) return el("p", { class: "dim" }, "Nothing was recorded.");
  return el("ol", { class: "history" }, account.entries.map((e) => el("li", {},
    el("div", { class: "who" }, age(e.time, " ago"), ` · ${e.cluster}/${e.binding}${/^(controller|$)/.test(e.by) ? "" : `, by ${e.by}`}`),
    e.events.map((event) => el("div", {}, eventText(event))))));
}

function eventText(event) {
  const named = event.targets ?? [];
  const more = named.length + (event.more ?? 0) - Math.min(named.length, 3);
  const which = named.slice(0, 3).join(", ") + (more > 0 ? ` and ${more} more` : "");
  const others = (event.others ?? []).length > 0 ? ` (${event.others.join(", ")})` : "";
  return `${happened[event.what] ?? event.what} ${which}${event.reason ? `: ${event.reason}` : ""}${others}`;
}
