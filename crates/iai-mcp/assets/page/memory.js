// One memory: its words, its neighbours, where it comes from, and what can be done with it.

import { ask } from "./ask.js";
import { ago, moment } from "./dates.js";
import { correct, forget, say } from "./dialogs.js";
import {
  glimpse,
  h,
  inline,
  isTaught,
  number,
  path,
  shortProject,
  speaker,
  waiting,
} from "./elements.js";
import { prose } from "./prose.js";

export const title = "Memory";

const KINDS = {
  similar: "Means much the same",
  near_duplicate: "Almost the same words",
  hebbian: "Was of use together",
  entity_shared: "Names the same thing",
  consolidated_from: "Made from",
  schema_instance_of: "A case of",
};
const TIERS = { episodic: "said in a session", semantic: "a summary or a fact" };
const FROM = { consolidated_from: "Quoted by", schema_instance_of: "Has the case" };
const PROVENANCE = {
  git_branch: "Branch",
  branch: "Branch",
  model: "Model",
  tools: "Tools",
  files: "Files",
  host_version: "Host version",
  parent: "Follows the turn",
  generated: "Made by iai-mcp",
  of: "Of",
  n_members: "Out of",
  subagent: "Said by a subagent",
  plan: "A plan",
  asked: "Answers",
  queued: "Said while work went on",
};

export async function show(view, { path, signal, go, acts }) {
  view.append(waiting("Reading …"));
  const told = await ask("picture_memory", { id: path[0] }, signal);
  const memory = told.memory;
  const pin = h(
    "button",
    { type: "button", "aria-pressed": String(memory.pinned) },
    memory.pinned ? "Unpin" : "Pin",
  );
  const did = {
    p: () => togglePin(memory, pin),
    c: () => correct(memory, (id) => go.to(`#/memory/${id}`)),
    f: () => forget({ ids: [memory.record_id] }, () => go.back()),
    b: told.previous ? () => go.to(`#/memory/${told.previous.record_id}`) : null,
    n: told.next ? () => go.to(`#/memory/${told.next.record_id}`) : null,
  };
  acts(did);
  pin.addEventListener("click", did.p);
  const place = [memory.host, memory.session_id].map(encodeURIComponent).join("/");
  const screen = isTaught(memory.session_id) ? "file" : "session";
  const session = `#/${screen}/${place}?at=${memory.record_id}`;
  view.replaceChildren(
    h(
      "div.head",
      {},
      h(
        "h1",
        {},
        speaker(memory),
        " ",
        h("time", { datetime: memory.ts }, moment(memory.ts)),
        " ",
        h("span.muted", {}, ago(memory.ts)),
      ),
      h(
        "div.buttons",
        {},
        beside(told.previous, "← Before", "The turn before"),
        beside(told.next, "After →", "The turn after"),
        pin,
        h("button", { type: "button", onclick: did.c }, "Correct"),
        h("button.danger-quiet", { type: "button", onclick: did.f }, "Forget"),
      ),
    ),
    h(
      "div.memory",
      {},
      h(
        "div.memory-main",
        {},
        replaced(told),
        told.untrusted ? h("p.careful", {}, `Careful: ${told.untrusted}.`) : null,
        h("article.words", {}, prose(memory.literal_surface)),
        memory.excerpt
          ? h(
              "p.muted",
              {},
              `The first ${number(memory.excerpt.end)} of ${number(memory.excerpt.total)} characters. `,
              inline("`iai-mcp show` has them all."),
            )
          : null,
        section(told.previous || told.next ? "Before and after" : "Said alone", [
          told.previous ? glimpse(told.previous, "Before") : null,
          told.next ? glimpse(told.next, "After") : null,
          h(
            "a.more-link",
            { href: session },
            isTaught(memory.session_id) ? "The whole file" : "The whole conversation",
          ),
        ]),
        told.disputed_with.length
          ? section(
              "May say the opposite",
              told.disputed_with.map((one) => glimpse(one.memory, one.what)),
            )
          : null,
        links(told.links),
      ),
      h("aside", { "aria-label": "Where it comes from" }, origin(memory, told.topic)),
    ),
  );
}

/** A way to a neighbour that no long text pushes out of sight. */
function beside(neighbour, words, name) {
  return neighbour
    ? h("a.step", { href: `#/memory/${neighbour.record_id}`, "aria-label": name }, words)
    : null;
}

async function togglePin(memory, button) {
  const wanted = !memory.pinned;
  button.disabled = true;
  try {
    const answer = await ask(wanted ? "memory_pin" : "memory_unpin", { id: memory.record_id });
    memory.pinned = answer.pinned;
    say(
      memory.pinned
        ? "Pinned: sessions of its project begin with it."
        : "Unpinned. It stays remembered.",
    );
  } catch (error) {
    say(`Nothing was changed: ${error.message}`);
  }
  button.disabled = false;
  button.textContent = memory.pinned ? "Unpin" : "Pin";
  button.setAttribute("aria-pressed", String(memory.pinned));
  button.focus();
}

function replaced(told) {
  const parts = [];
  if (told.replaced_by.length) {
    const when = told.memory.valid_to ? ` since ${moment(told.memory.valid_to)}` : "";
    parts.push(
      h(
        "section.replaced",
        {},
        h("h2", {}, `No longer holds${when}`),
        h(
          "div.list",
          {},
          told.replaced_by.map((one) => glimpse(one, "Replaced by")),
        ),
      ),
    );
  }
  if (told.replaced.length) {
    parts.push(
      h(
        "section.replaces",
        {},
        h("h2", {}, "Holds instead of"),
        h(
          "div.list",
          {},
          told.replaced.map((one) => glimpse(one, "Replaced")),
        ),
      ),
    );
  }
  return parts;
}

function links(all) {
  const groups = new Map();
  for (const link of all) {
    const name = (link.direction === "from" && FROM[link.kind]) || KINDS[link.kind] || link.kind;
    groups.set(name, [...(groups.get(name) ?? []), link]);
  }
  return [...groups].map(([name, group]) =>
    section(
      name,
      group.map((link) => glimpse(link.memory, strength(link))),
    ),
  );
}

/** How strong a link is, where links of its kind differ. */
function strength({ kind, weight }) {
  const isWhole = kind === "consolidated_from" || kind === "schema_instance_of";
  return isWhole ? null : `${Math.round(weight * 100)} %`;
}

function section(name, content) {
  return h("section", {}, h("h2", {}, name), h("div.list", {}, content));
}

function origin(memory, topic) {
  // That it corrects something is said already.
  const tags = memory.tags.filter((tag) => tag !== "contradict");
  const rows = [
    [
      "Project",
      memory.project
        ? h(
            "a",
            {
              href: `#/timeline?${new URLSearchParams({ project: memory.project })}`,
              title: memory.project,
            },
            shortProject(memory.project),
          )
        : null,
    ],
    ["Topic", topic?.label ? h("a", { href: `#/map?topic=${topic.number}` }, topic.label) : null],
    ["Host", isTaught(memory.session_id) ? null : memory.host],
    ["Session", sessionOf(memory)],
    ["Folder", memory.cwd ? path(memory.cwd) : null],
    ...provenance(memory.provenance ?? {}),
    ["Kind", isTaught(memory.session_id) ? null : (TIERS[memory.tier] ?? memory.tier)],
    ["Captured", h("time", { datetime: memory.captured_at }, moment(memory.captured_at))],
    ["Tags", tags.length ? tags.join(", ") : null],
    ["Id", h("code", {}, memory.record_id)],
  ];
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return [
    h("h2", {}, "Where it comes from"),
    h(
      "dl.facts",
      {},
      shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    ),
  ];
}

function sessionOf({ session_id: session }) {
  if (isTaught(session)) return null;
  if (session === "-") return "none";
  return session.startsWith("page-") ? "made on this page" : h("code", {}, session);
}

/** Where it comes from, in words. */
function provenance({ corrects, supersedes, taught, files, ...rest }) {
  const memory = (id, words) => (id ? h("a", { href: `#/memory/${id}` }, words) : null);
  const rows = [
    ["Corrects", memory(corrects, "what was said first")],
    ["Replaces", supersedes === corrects ? null : memory(supersedes, "an earlier correction")],
    ["Files", taught || !files ? null : told(files)],
    ...Object.entries(rest).map(([name, value]) => [PROVENANCE[name] ?? name, told(value)]),
  ];
  if (taught) {
    rows.unshift(
      ["Taught from", [taught.name, taught.part].filter(Boolean).join(" ")],
      ["File", taught.file ? path(taught.file) : "handed over on the page"],
      ["Set", taught.set ? h("a", { href: "#/teach" }, taught.set) : null],
    );
  }
  return rows;
}

function told(value) {
  if (Array.isArray(value))
    return h(
      "ul.plain",
      {},
      value.map((one) => h("li", {}, h("code", {}, String(one)))),
    );
  if (value === true) return "yes";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
