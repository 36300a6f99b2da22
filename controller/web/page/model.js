// What the survey says, turned the way the page shows it.

const trouble = ["blocked", "unregistered", "unhealthy", "unavailable"];
const passing = ["releasing", "draining", "initial"];

export const clusterOf = (owner) => owner.owner.split("/", 1)[0];

// columns are the clusters of the registry, and those that have records alone.
export function columns(survey) {
  const ids = new Set(survey.clusters.map((c) => c.id));
  for (const u of survey.unreadable ?? []) ids.add(u.item);
  for (const g of survey.groups) for (const o of g.owners) ids.add(clusterOf(o));
  return [...ids].sort();
}

// cell is what one cluster has in a group.
export function cell(group, cluster) {
  const sum = { held: 0, healthy: 0, releasing: 0, blocked: 0, owners: 0 };
  for (const o of group.owners) {
    if (clusterOf(o) !== cluster) continue;
    sum.owners++;
    sum.held += o.held;
    sum.healthy += o.healthy;
    sum.releasing += o.releasing;
    sum.blocked += o.targets.filter((t) => t.blocked).length;
  }
  return sum;
}

const kindOf = (health) => (health === "not registered" ? "unregistered" : health);

const order = new Intl.Collator("en", { numeric: true }).compare; // 10.0.0.9 comes before 10.0.0.10

// targets are those of all records and of the load balancer, each once, those
// in trouble first.
export function targets(group) {
  const all = new Map();
  const get = (t) => {
    if (!all.has(t.target)) all.set(t.target, { target: t.target, health: t.health, kind: kindOf(t.health), entries: [], marks: new Set() });
    return all.get(t.target);
  };
  for (const o of group.owners) {
    for (const t of o.targets) {
      const target = get(t);
      target.entries.push({ owner: o.owner, entry: t.entry, since: t.since });
      if (t.entry === "releasing") target.marks.add("releasing");
      if (t.blocked) target.marks.add("blocked");
    }
  }
  for (const target of all.values()) {
    if (target.entries.filter((e) => e.entry === "held").length > 1) target.marks.add("shared");
  }
  for (const t of group.external) get(t).marks.add(t.leaving ? "releasing" : "external");
  const rank = (t) => {
    const has = (kinds) => kinds.some((k) => k === t.kind || t.marks.has(k));
    return has(trouble) ? 0 : has(passing) ? 1 : t.marks.has("shared") ? 2 : t.marks.has("external") ? 4 : 3;
  };
  return [...all.values()].sort((a, b) => rank(a) - rank(b) || order(a.target, b.target));
}

export const healths = ["healthy", "initial", "draining", "unused", "unknown", "unavailable", "unhealthy", "unregistered"];

// tally counts the targets of each health, and of each mark.
export function tally(list) {
  const health = Object.fromEntries(healths.map((h) => [h, 0]));
  const marks = { shared: 0, blocked: 0, external: 0, releasing: 0 };
  for (const t of list) {
    health[t.kind in health ? t.kind : "unknown"]++;
    for (const m of t.marks) marks[m]++;
  }
  return { health, marks };
}

export function nameOf(arn) {
  return arn.split("/")[1] ?? arn;
}

export function matches(group, list, filter) {
  const wanted = filter.trim().toLowerCase();
  if (wanted === "") return true;
  return [group.targetGroup, ...list.map((t) => t.target), ...group.owners.map((o) => o.owner)]
    .some((text) => text.toLowerCase().includes(wanted));
}
