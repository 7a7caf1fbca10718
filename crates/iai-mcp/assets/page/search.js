// The search screen: the ranking of recall, with its reasons; before a question, what is at hand.

import { ask } from "./ask.js";
import { ago, moment } from "./dates.js";
import { glimpse, h, inline, kindOf, marked, number, projectChoice, shortProject, speaker } from "./elements.js";
import { spans } from "./prose.js";
import { sessionItem } from "./timeline.js";

const TYPING_MS = 250;
/** Lines of each part of what is at hand. */
const AT_HAND = 5;
const SHOWN_CHARS = 420;
const LONG_CHARS = 1600;
/** Below this share of the best score, a hit is behind a line that opens. */
const FIT_SHARE = 0.4;
/** So many are always shown; where nothing fits, they are enough. */
const NEAREST_SHOWN = 5;

export const title = "Search";

export async function show(view, { query, signal, go }) {
  const cue = query.get("q") ?? "";
  const project = query.get("project") ?? "";
  const field = h("input", {
    type: "search",
    id: "cue",
    value: cue,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Ask your memory",
    enterkeyhint: "search",
  });
  const choice = h(
    "select",
    { id: "project", "aria-label": "Project" },
    h("option", { value: "" }, "All projects"),
  );
  const results = h("div.results", {});
  view.append(
    h("h1.unseen", {}, "Search the memory"),
    h(
      "form.ask",
      {
        role: "search",
        onsubmit: (event) => {
          event.preventDefault();
          search(true);
        },
      },
      h("label.unseen", { for: "cue" }, "Search the memory"),
      field,
      choice,
    ),
    results,
  );
  let timer = 0;
  let last = null;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(false), TYPING_MS);
  });
  choice.addEventListener("change", () => search(true));
  signal.addEventListener("abort", () => clearTimeout(timer));
  if (!cue) field.focus({ preventScroll: true });

  let running = null;
  async function search() {
    const words = field.value.trim();
    const wanted = `${choice.value}\n${words}`;
    if (wanted === last) return;
    last = wanted;
    const asked = new URLSearchParams();
    if (words) asked.set("q", words);
    if (choice.value) asked.set("project", choice.value);
    go.replace(`#/search${asked.size ? `?${asked}` : ""}`);
    running?.abort();
    running = new AbortController();
    signal.addEventListener("abort", () => running.abort());
    await fill(results, words, choice.value, running.signal);
  }
  const first = ask("picture_sessions", { limit: 2 * AT_HAND }, signal);
  first.then(
    (page) => {
      for (const line of page.projects ?? []) {
        choice.append(projectChoice(line));
      }
      choice.value = project;
    },
    () => {},
  );
  last = `${project}\n${cue}`;
  await fill(results, cue, project, signal, first);
}

async function fill(results, cue, project, signal, sessions) {
  results.setAttribute("aria-busy", "true");
  try {
    const shown = cue
      ? await found(cue, project, signal)
      : await atHand(project, signal, sessions);
    results.replaceChildren(...shown);
  } catch (error) {
    if (error.name !== "AbortError")
      results.replaceChildren(h("p.empty", { role: "alert" }, inline(error.message)));
  } finally {
    results.removeAttribute("aria-busy");
  }
}

async function found(cue, project, signal) {
  const params = { cue, ...(project ? { project } : {}) };
  const answer = await ask("picture_search", params, signal);
  const isDoubtful = answer.hints.some((hint) => hint.kind === "low_confidence");
  const best = isDoubtful ? null : (answer.hits[0]?.score ?? 1);
  const card = (hit, place) => h("li", {}, hitCard(hit, cue, best, place));
  const hits = answer.hits.map(card);
  const old = answer.anti_hits.map((hit) => card(hit, null));
  const isFit = (hit) => best === null || hit.score >= FIT_SHARE * best;
  const nFit = answer.hits.findIndex((hit) => !isFit(hit));
  const nWell = nFit < 0 ? hits.length : nFit;
  const shown = hits.splice(0, isDoubtful ? NEAREST_SHOWN : Math.max(nWell, NEAREST_SHOWN));
  return [
    h("p.count", { role: "status" }, told(answer, isDoubtful, shown.length)),
    answer.hints.length
      ? h(
          "ul.hints",
          {},
          answer.hints.map((hint) => h("li", {}, inline(advice(hint)))),
        )
      : null,
    answer.hits.length ? null : nextTry(answer, project),
    h("ol.hits", { "aria-label": isDoubtful ? "What comes nearest" : "Hits, best first" }, shown),
    hits.length
      ? h(
          "details.farther",
          {},
          h("summary", {}, `${number(hits.length)} more that fit less`),
          h("ol.hits", { "aria-label": "What comes less near" }, hits),
        )
      : null,
    old.length
      ? h(
          "section",
          {},
          h("h2", {}, "No longer holds, or is disputed"),
          h("ol.hits.old", {}, old),
        )
      : null,
  ].filter(Boolean);
}

/** What came of it, in a line. Everything remembered is near to a cue in some degree: a number of
 *  hits says how many are shown, never how many there are. */
function told({ timing_us: timing }, isDoubtful, nShown) {
  if (!nShown) return "Nothing found.";
  if (isDoubtful) return "Nothing fits well. This comes nearest:";
  const took = timing ? `, in ${number(Math.max(1, Math.round(timing.all / 1000)))} ms` : "";
  return nShown === 1 ? `1 hit${took}` : `${number(nShown)} shown, best first${took}`;
}

/** What to try where nothing was found; a hint may have said it. */
function nextTry(answer, project) {
  if (answer.hints.some((hint) => hint.kind === "retrieval_skipped")) return null;
  const wider = project ? ", or in all projects" : "";
  return h(
    "p.empty",
    {},
    `Try other words for it, a name that was used, or a single word${wider}. `,
    "The timeline has everything by day.",
  );
}

/** A hint as a sentence to a person; it was written for an assistant. */
function advice({ text }) {
  const words = text.replace(
    "ask which one holds, memory_contradict settles it",
    "correct the one that is wrong",
  );
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}

function hitCard(hit, cue, best, place) {
  const text = hit.literal_surface;
  const shown = text.length > LONG_CHARS ? around(text, cue) : text;
  const words = h(
    "a.hit-words",
    { href: `#/memory/${hit.record_id}`, "data-item": "" },
    hit.excerpt?.start > 0 ? "… " : null,
    spans(shown, (words) => marked(words, cue)),
    (hit.excerpt && hit.excerpt.end < hit.excerpt.total) || shown !== text ? " …" : null,
  );
  return h(
    "article.hit",
    {},
    h(
      "div.hit-meta",
      {},
      speaker(hit),
      h("time", { datetime: hit.ts, title: moment(hit.ts) }, moment(hit.ts)),
      h("span.muted", {}, ago(hit.ts)),
      hit.project ? h("span.tag", { title: hit.project }, shortProject(hit.project)) : null,
      hit.tier !== "episodic" ? h("span.tag", {}, kindOf(hit)) : null,
      hit.valid_to ? h("span.tag.old", {}, "replaced") : null,
      hit.relation === "disputed_with" ? h("span.tag.old", {}, "disputed") : null,
    ),
    words,
    hit.untrusted ? h("p.careful", {}, `Careful: ${hit.untrusted}.`) : null,
    why(hit, best, place),
  );
}

/** The part of a long text with the first word that was looked for. */
function around(text, cue) {
  const words = cue.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...(places.length ? places : [0])) - SHOWN_CHARS / 4);
  return text.slice(start, start + SHOWN_CHARS);
}

/** The arithmetic behind a score, folded away. Without a best there is nothing to measure by. */
function why(hit, best, place) {
  const share = best === null ? 0 : Math.max(0, Math.min(1, hit.score / Math.max(best, 0.0001)));
  const meter = h("span.meter", { "aria-hidden": "true" }, h("span", {}));
  meter.firstChild.style.setProperty("inline-size", `${Math.round(share * 100)}%`);
  const parts = terms(hit.reason);
  const rows = parts.map(([sign, name, value, note]) =>
    h(
      "tr",
      {},
      h("td", {}, sign),
      h("th", { scope: "row" }, name),
      h("td.num", {}, value),
      h("td.muted", {}, [MEANINGS[name], note].filter(Boolean).join("; ")),
    ),
  );
  return h(
    "details.why",
    {},
    h(
      "summary",
      {},
      place === 0 && best !== null ? "Why this first" : "Why",
      best === null ? null : [meter, h("span.num", {}, hit.score.toFixed(3))],
    ),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        rows,
        h(
          "tr.sum",
          {},
          h("td", {}, "="),
          h("th", { scope: "row" }, "score"),
          h("td.num", {}, hit.score.toFixed(3)),
          h("td", {}),
        ),
      ),
    ),
  );
}

/** What the names in a reason mean. */
const MEANINGS = {
  words: "it has words of the question",
  meaning: "it says something near",
  scene: "the turns around it fit",
  "quoted words": "it has the very words in quotes",
  project: "it is of the project",
  recency: "it was said of late",
  date: "it was said at the time asked for",
  session: "other turns of its session fit too",
  "session again": "its session was told above",
  "said later": "it was said after the time asked for",
  summary: "nobody said it, it was made of turns",
  alike: "it says what was told above",
  link: "it was of use together with another hit",
};

/** Takes the words of a reason apart: `words 0.300 (bm25 4.20) + scene 0.100`. */
export function terms(reason) {
  const pieces = reason.split(/\s([+−×→])\s/);
  const signs = ["", ...pieces.filter((_, place) => place % 2 === 1)];
  return pieces
    .filter((_, place) => place % 2 === 0)
    .map((piece, place) => {
      // A number ends where a word would go on: ids are no numbers.
      const read = piece.match(/^([^\d(]*?)\s*(-?\d+(?:\.\d+)?)(?=$|[\s,(])\s*(.*)$/);
      return read
        ? [signs[place], read[1] || "factor", read[2], read[3].replace(/^[(,]\s*|\)$/g, "")]
        : [signs[place], piece, "", ""];
    });
}

async function atHand(project, signal, sessions) {
  const within = project ? { project } : {};
  const [pins, told, page] = await Promise.all([
    ask("memory_pins", {}, signal),
    ask("picture_decided", { limit: AT_HAND + 3, ...within }, signal).catch((error) => {
      if (error.name === "AbortError") throw error;
      // A daemon of before knows no such question.
      return { decided: [] };
    }),
    project || !sessions
      ? ask("picture_sessions", { limit: 2 * AT_HAND, ...within }, signal)
      : sessions,
  ]);
  const seen = pins.memories.map((pin) => ({
    ...pin,
    first_words: pin.literal_surface.slice(0, 200),
  }));
  // A thing stands here once: a pin first, and what was corrected by hand is no session.
  const pinned = new Set(pins.memories.map((pin) => pin.record_id));
  const decided = told.decided.filter((one) => !pinned.has(one.record_id));
  const lately = page.sessions.filter((line) => !["page", "terminal"].includes(line.host));
  const parts = [
    ["Pinned", seen.map((pin) => glimpse(pin))],
    ["Decided", decided.slice(0, AT_HAND).map(decision)],
    ["Lately", lately.slice(0, AT_HAND).map((line) => sessionItem(line, true))],
  ].filter(([, items]) => items.length);
  if (!parts.length)
    return [
      h(
        "p.empty",
        {},
        "Nothing is remembered yet. What you and your assistants say will be here.",
      ),
    ];
  return parts.map(([name, items]) =>
    h("section", {}, h("h2", {}, name), h("div.list", {}, items)),
  );
}

/** What was decided, and below it what was said otherwise since. */
function decision(one) {
  const line = glimpse(one, ago(one.ts));
  return one.since
    ? h("div.decision", {}, line, glimpse(one.since, `Since then, ${ago(one.since.ts)}`))
    : line;
}
