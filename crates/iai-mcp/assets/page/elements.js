// Makes elements. What somebody said goes into a page as text only, never as markup.

import { dayKey } from "./dates.js";

/** Makes an element: `h("a.item", {href: "#/"}, "text", child, null)`. */
export function h(tag, properties, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined),
  );
  return element;
}

/** Shows words in backticks as code. */
export function inline(text) {
  const parts = text.split(/`([^`\n]{1,200})`/);
  return parts.map((part, place) => (place % 2 === 1 ? h("code", {}, part) : part));
}

/** Shows a path, which breaks between folders where it is too long for its place. */
export function path(text) {
  return h(
    "code",
    {},
    text.split(/(?<=\/)/).flatMap((part, place) => (place ? [h("wbr", {}), part] : [part])),
  );
}

/** Words of questions that tell nothing. */
const COMMON = new Set(
  ("about and are can did does for from had has have how into not our say said should the their " +
    "then there this that was were what when where which who why will with would you your").split(" "),
);

/** Shows a text with the words of a cue marked. */
export function marked(text, cue) {
  const all = (cue.match(/[\p{L}\p{N}_]{3,}/gu) ?? []).map((word) => word.toLowerCase());
  const words = all.filter((word) => !COMMON.has(word));
  if (!words.length) return [text];
  const escaped = [...new Set(words)].map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(${escaped.join("|")})`, "giu");
  return text.split(pattern).map((part, place) => (place % 2 === 1 ? h("mark", {}, part) : part));
}

/** Returns the last part of a project's path. */
export function shortProject(project) {
  return project ? project.replace(/\/+$/, "").split("/").pop() || project : null;
}

/** A project in a menu, with what its number counts. */
export function projectChoice({ project, n_sessions: n }) {
  const has = n ? counted(n, "session") : "only taught";
  return h("option", { value: project }, `${shortProject(project)} · ${has}`);
}

/** Counts in words: `1 turn`, `2 turns`, `3 memories`. */
export function counted(n, thing) {
  return `${number(n)} ${n === 1 ? thing : `${thing.replace(/y$/, "ie")}s`}`;
}

/** Writes a number as the reader's language does. */
export function number(n) {
  return new Intl.NumberFormat().format(n);
}

/** Who speaks, for people. */
export const SPEAKERS = { user: "You", assistant: "Assistant", system: "iai-mcp" };

/** A label of who spoke; what was taught was said by nobody. */
export function speaker({ role, session_id: session }) {
  const who = isTaught(session) ? "Taught" : (SPEAKERS[role] ?? role);
  return h(`span.role.${role}`, {}, who);
}

/** Tells whether a session is a file that was taught. */
export function isTaught(session) {
  return Boolean(session?.startsWith("taught:"));
}

/** What a memory is that nobody said, in a word. */
export function kindOf({ tier, session_id: session, taught }) {
  if (taught) return taught;
  if (isTaught(session)) return "taught";
  return tier === "semantic" ? "summary" : tier;
}

/** A line of words without the marks of Markdown, which only a whole text is drawn with. */
export function plain(words) {
  return words
    .replace(/`([^`]{1,200})`/g, "$1")
    .replace(/\*\*(\S[^*]{0,400})\*\*/g, "$1")
    .replace(/(^|\s)#{1,6}\s+(?=\S)/g, "$1");
}

/** A line that leads to a memory. */
export function glimpse(memory, before) {
  return h(
    "a.glimpse",
    { href: `#/memory/${memory.record_id}`, "data-item": "" },
    before ? h("span.glimpse-why", {}, before) : null,
    h("span.glimpse-words", {}, plain(memory.first_words) || "(no words)"),
    h(
      "span.glimpse-meta",
      {},
      speaker(memory),
      h("time", { datetime: memory.ts }, dayKey(memory.ts)),
      memory.project ? h("span", {}, shortProject(memory.project)) : null,
      memory.valid_to ? h("span.tag.old", {}, "replaced") : null,
    ),
  );
}

/** What stands where something is on its way. */
export function waiting(what) {
  return h("p.empty", { "aria-busy": "true" }, what);
}
