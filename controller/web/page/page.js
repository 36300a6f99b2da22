// Asks for the survey every few seconds while the page is visible, shows it,
// and listens to the keys.
import { el, grow, mark, plural, secondsBetween, secondsSince, setClock, span } from "./dom.js";
import { clusterOf, tally, targets } from "./model.js";
import { openGroups, render, showHistory } from "./groups.js";

const byId = (id) => document.getElementById(id);
const pollEvery = 2000; // milliseconds; the server reads less often
const quiet = 120; // seconds without a heartbeat, as in the server's findings
const shownFindings = 5;

let site = null;
let lost = "";
let paused = false;

function draw() {
  if (!site?.survey) return;
  verdict();
  clusters();
  filtered();
  byId("place").textContent = `${site.table} · ${site.region}`;
  byId("version").textContent = `${site.version}, read from the table and the load balancer every ${site.refreshSeconds} s at most while somebody watches`;
}

// setText leaves an element alone that says so already: a status that is
// written anew is read out anew.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function verdict() {
  const count = (severity) => site.findings.filter((f) => f.severity === severity).length;
  const wrong = count("error") + count("warning");
  const title = byId("verdict");
  title.className = `verdict ${count("error") > 0 ? "error" : wrong > 0 ? "warning" : "well"}`;
  setText(title, wrong === 0 ? "Nothing needs attention" : `${plural(wrong, "thing")} need${wrong === 1 ? "s" : ""} attention`);
  const all = site.survey.groups.flatMap(targets);
  const { health, marks } = tally(all);
  setText(byId("summary"), [
    plural(site.survey.clusters.length, "cluster"), plural(site.survey.groups.length, "target group"),
    `${plural(all.length, "target")}, ${health.healthy} healthy`, `${marks.external} external`,
  ].join(" · "));
  const rest = site.findings.length - shownFindings;
  const list = byId("findings");
  const want = JSON.stringify(site.findings);
  if (list.dataset.drawn === want) return;
  list.dataset.drawn = want;
  list.replaceChildren(
    ...site.findings.slice(0, shownFindings).map((f) => el("li", { class: f.severity },
      el("div", {}, el("b", {}, f.where), `: ${f.what}`), el("div", { class: "do" }, f.do))),
    ...(rest > 0 ? [el("li", { class: "rest" }, `and ${rest} more: targetctl doctor lists them all`)] : []));
}

function silentFor(c) {
  const w = c.watched;
  if (w && w.heartbeats !== 0) return 0;
  return Math.max(w?.seconds ?? 0, beatAge(c) ?? 0);
}

// beatAge is how old the heartbeat was, in seconds, when the registry was read:
// the groups that are read after it may take minutes.
const beatAge = (c) => secondsBetween(c.heartbeatAt, site.survey.readAt);

function clusters() {
  const list = byId("clusters");
  const want = JSON.stringify([site.survey.readAt, site.survey.clusters, site.survey.unreadable, site.survey.groups.map((g) => g.owners.map((o) => [o.owner, o.held, o.releasing]))]);
  if (list.dataset.drawn === want) return;
  list.dataset.drawn = want;
  const cards = site.survey.clusters.map((c) => {
    let held = 0, leaving = 0;
    for (const o of site.survey.groups.flatMap((g) => g.owners)) {
      if (clusterOf(o) !== c.id) continue;
      held += o.held;
      leaving += o.releasing;
    }
    const silent = silentFor(c) > quiet && c.state !== "Retired";
    return el("li", { class: silent ? "silent" : "" },
      el("div", { class: "name" }, c.id, mark(c.state)),
      el("div", { class: "facts beat" }, silent ? `▲ no heartbeat for ${span(beatAge(c))}` : `heartbeat ${span(beatAge(c))} ago`),
      el("div", { class: "facts" }, `${held} held${leaving > 0 ? `, ${leaving} leaving` : ""} · ${c.controllerVersion || "no version"}`));
  });
  for (const u of site.survey.unreadable ?? []) {
    cards.push(el("li", { class: "silent" }, el("div", { class: "name" }, u.item, mark("unreadable", "gone")), el("div", { class: "facts" }, u.reason)));
  }
  list.replaceChildren(...(cards.length > 0 ? cards : [el("li", {}, el("div", { class: "facts" }, "No cluster has registered in this table yet."))]));
}

function filtered() {
  const shown = render(site.survey, byId("filter").value);
  const none = byId("none");
  none.hidden = shown > 0;
  setText(none, site.survey.groups.length === 0 ? "No records yet: they come with the first TargetGroupBinding." : "No target group matches.");
}

function freshness() {
  const seconds = secondsSince(site?.survey?.at);
  const late = site && seconds !== null && seconds > 3 * site.refreshSeconds;
  const kind = lost || site?.error ? "lost" : paused || late ? "late" : site?.survey ? "live" : "";
  byId("lamp").className = `lamp ${kind}`;
  const when = seconds === null ? "" : seconds < 3 ? "read just now" : `read ${span(seconds)} ago`;
  const trouble = lost || site?.error || "";
  setText(byId("fresh"), [paused ? "paused" : trouble ? "" : site?.survey ? "live" : "reading …", when, trouble].filter(Boolean).join(" · "));
  grow();
}

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status} ${(await answer.text()).trim()}`);
  return answer.json();
}

async function poll() {
  if (!paused && !document.hidden) {
    try {
      const next = await ask("site.json");
      setClock(next.now);
      lost = "";
      const news = next.serial !== site?.serial;
      site = next;
      if (news) {
        draw();
        await Promise.all(openGroups().map(past));
      }
    } catch (e) {
      lost = `no answer: ${e.message}`;
    }
    freshness();
  }
  setTimeout(poll, pollEvery);
}

async function past(arn) {
  try {
    showHistory(arn, await ask(`history.json?group=${encodeURIComponent(arn)}`));
  } catch (e) {
    showHistory(arn, { entries: [], error: e.message });
  }
}

function pause() {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  byId("pause").textContent = paused ? "Resume" : "Pause";
  freshness();
}

// step moves the focus by so many groups.
function step(by) {
  const buttons = [...document.querySelectorAll(".group")];
  const at = buttons.indexOf(document.activeElement);
  const to = at < 0 ? 0 : Math.min(Math.max(at + by, 0), buttons.length - 1);
  buttons[to]?.focus();
}

const keys = {
  j: () => step(1),
  k: () => step(-1),
  p: pause,
  "/": () => byId("filter").focus(),
  "?": () => byId("keys").showModal(),
};

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || byId("keys").open) return;
  if (e.target.id === "filter") {
    if (e.key !== "Escape") return;
    e.target.value = "";
    e.target.blur();
    if (site?.survey) filtered();
    return;
  }
  const arrow = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (arrow && document.activeElement.classList.contains("group")) step(arrow);
  else if (keys[e.key]) keys[e.key]();
  else return;
  e.preventDefault();
});

document.addEventListener("opened", (e) => past(e.detail));
document.addEventListener("visibilitychange", freshness);
byId("filter").addEventListener("input", () => { if (site?.survey) filtered(); });
byId("pause").addEventListener("click", pause);
byId("help").addEventListener("click", () => byId("keys").showModal());
setInterval(freshness, 1000);
poll();
