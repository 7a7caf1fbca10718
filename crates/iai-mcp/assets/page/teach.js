// Files become passages: dropped or chosen here, listed by set, and removed as a set.

import { ask, handOver, onChange, state } from "./ask.js";
import { dayKey } from "./dates.js";
import { confirmed, forget } from "./dialogs.js";
import { counted, h, inline, number, waiting } from "./elements.js";

export const title = "Teach";

const START = "start it with `iai-mcp daemon start`";
/** Files of a set that are shown at once. */
const FILES_SHOWN = 8;

/** What was handed over since the page was opened, the latest first. */
const lessons = [];
const queue = [];
/** Looks again at what is shown, while the screen is. */
let look = { lessons: () => {}, sets: () => {} };
let isBusy = false;
let wishedSet = "";
let known = { files: [], bytes_max: Infinity };

/** Takes files in, one after another, whatever screen is shown. */
export function take(files) {
  for (const file of files) {
    const lesson = { name: file.name, state: "waits", words: [`${file.name} waits.`] };
    lessons.unshift(lesson);
    queue.push({ file, lesson, set: wishedSet.trim() || stem(file.name) });
  }
  look.lessons();
  work();
}

async function work() {
  if (isBusy) return;
  isBusy = true;
  for (let next = queue.shift(); next; next = queue.shift()) await teach(next);
  isBusy = false;
}

async function teach({ file, lesson, set }) {
  const become = (state, ...words) => {
    Object.assign(lesson, { state, words });
    look.lessons();
  };
  become("reads", `Reading ${file.name} …`);
  try {
    known = await ask("taught");
    if (file.size > known.bytes_max) {
      const mebibytes = Math.floor(known.bytes_max / 1024 / 1024);
      throw new Error(`it is larger than ${mebibytes} MiB; split it first`);
    }
    // A store that only is read answers too; whoever is asked something must be able to have it.
    if (state.now !== "up") throw new Error(`the daemon is not running; ${START}`);
    const bytes = await file.arrayBuffer().catch(() => {
      throw new Error("it cannot be read; a folder is taught by `iai-mcp teach FOLDER`");
    });
    const written = new Date(file.lastModified).toISOString();
    const facts = { name: file.name, set, written_at: written };
    const same = known.files.find((one) => one.set === set && one.name === file.name && !one.file);
    if (same && (await handOver({ ...facts, look_only: true }, bytes)).is_known)
      return become("left", `${file.name} is known already; nothing in it is new.`);
    if (same && !(await mayReplace(file.name, set, same)))
      return become("left", `${file.name} was left as it was taught before.`);
    const told = await handOver(facts, bytes);
    become("well", ...outcome(told));
    look.sets();
  } catch (error) {
    const why = error.message;
    const isTold = why.startsWith(file.name);
    become("refused", isTold ? `${why}.` : `${file.name} was not taught: ${why}.`);
  }
}

function mayReplace(name, set, same) {
  return confirmed(
    `Replace ${name}?`,
    `The set ${set} has a file of this name, taught ${dayKey(same.taught_at)}. What the new one ` +
      "no longer says goes; what it says still, stays. To keep both, give the set another name.",
    "Replace it",
  );
}

function outcome(told) {
  const { asked, found, missed } = told.sample;
  const again =
    asked === told.passages
      ? `${number(found)} found again`
      : `${number(found)} of ${number(asked)} asked for were found again`;
  const more = [
    [told.known, "known already"],
    [told.retired, "no longer in the file, and gone"],
    [told.repeated, "said twice, kept once"],
    [told.forgotten, "forgotten on purpose, and stay so"],
    [told.cut, "without what is private or secret in them"],
  ].filter(([n]) => n);
  return [
    `${counted(told.passages, "passage")} of ${told.name}${asked ? `, ${again}` : ""}.`,
    ...more.map(([n, what]) => `${number(n)} ${what}.`),
    ...missed.map((source) => `Not found by its own words: ${source}.`),
    ...told.problems,
  ];
}

function stem(name) {
  return name.replace(/(.)\.[^.]*$/, "$1").slice(0, 60).trim() || "file";
}

export async function show(view, { signal, acts }) {
  const input = h("input", { type: "file", multiple: true, hidden: true, "aria-hidden": "true" });
  const choose = () => {
    if (state.now === "up") input.click();
  };
  input.addEventListener("change", () => {
    take(input.files);
    input.value = "";
  });
  const set = h("input", {
    type: "text",
    id: "set",
    maxlength: "80",
    autocomplete: "off",
    placeholder: "as the file is called",
    value: wishedSet,
  });
  set.addEventListener("input", () => {
    wishedSet = set.value;
  });
  const button = h("button.primary", { type: "button", onclick: choose }, "Choose files");
  const asleep = h(
    "p.careful",
    { role: "status" },
    inline(`The daemon is not running: nothing can be taught or removed. To go on, ${START}.`),
  );
  /** Offers only what can be done. */
  const offer = () => {
    const isUp = state.now === "up";
    asleep.hidden = isUp;
    for (const one of [button, ...view.querySelectorAll(".set-head button")]) one.disabled = !isUp;
  };
  const news = h("ul.lessons", { "aria-live": "polite", "aria-label": "Handed over just now" });
  const sets = h("div.sets", {}, waiting("Reading …"));
  view.append(
    h("div.head", {}, h("h1", {}, "Teach")),
    h(
      "div.drop",
      {},
      h("p.drop-words", {}, "Drop files here, or anywhere on this page"),
      button,
      input,
      asleep,
      h(
        "p.muted",
        {},
        "Text, Markdown, source code, HTML, PDF and Word documents become passages that search ",
        "finds and assistants are told. Nothing leaves this machine.",
      ),
      h("div.set-name", {}, h("label", { for: "set" }, "Set"), set),
    ),
    news,
    h("h2", {}, "Taught so far"),
    sets,
  );
  acts({ o: choose });
  look = {
    lessons: () => news.replaceChildren(...lessons.map(line)),
    sets: () =>
      list(sets, signal)
        .then(offer)
        .catch(() => {}),
  };
  const forgetOffer = onChange(offer);
  signal.addEventListener("abort", () => {
    forgetOffer();
    look = { lessons: () => {}, sets: () => {} };
  });
  look.lessons();
  await list(sets, signal);
  offer();
}

function line({ state, words }) {
  const [first, ...rest] = words;
  return h(
    `li.lesson.${state}`,
    {},
    h("span.lesson-what", {}, inline(first)),
    rest.map((one) => h("span.muted", {}, one)),
  );
}

async function list(place, signal) {
  known = await ask("taught", {}, signal);
  const sets = new Map();
  for (const file of known.files) sets.set(file.set, [...(sets.get(file.set) ?? []), file]);
  if (!sets.size) return place.replaceChildren(h("p.empty", {}, "Nothing was taught yet."));
  place.replaceChildren(
    ...[...sets].map(([name, files]) => setOf(name, files, () => list(place, signal))),
  );
}

function setOf(name, files, again) {
  const passages = files.reduce((sum, file) => sum + file.passages, 0);
  return h(
    "section.set",
    { "aria-label": name },
    h(
      "div.set-head",
      {},
      h("h3", {}, name),
      h("span.muted", {}, `${counted(files.length, "file")} · ${counted(passages, "passage")}`),
      h(
        "button.danger-quiet",
        {
          type: "button",
          "aria-label": `Remove ${name}`,
          onclick: () => forget({ taught: name }, () => again().catch(() => {})),
        },
        "Remove",
      ),
    ),
    filesOf(files),
  );
}

/** A few files are shown; many are behind a line that opens. */
function filesOf(files) {
  const few = h("ul.files", {}, files.slice(0, FILES_SHOWN).map(fileLine));
  const rest = files.slice(FILES_SHOWN);
  if (!rest.length) return few;
  const all = h("details", {}, h("summary", {}, `${number(rest.length)} more`));
  all.addEventListener(
    "toggle",
    () => all.append(h("ul.files", {}, rest.map(fileLine))),
    { once: true },
  );
  return [few, all];
}

function fileLine(file) {
  const place = ["taught", file.session_id].map(encodeURIComponent).join("/");
  return h(
    "li",
    {},
    h("a", { href: `#/file/${place}`, "data-item": "", title: file.file || null }, file.name),
    h("span.muted", {}, counted(file.passages, "passage")),
    h("time.muted", { datetime: file.taught_at }, dayKey(file.taught_at)),
  );
}
