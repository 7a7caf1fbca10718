// How the memory is: what waits, what was done, how large it is, which programs and models work.

import { ask, health } from "./ask.js";
import { moment, since } from "./dates.js";
import { counted, h, inline, number, path } from "./elements.js";

export const title = "Health";

const AGAIN_MS = 5000;
/** Counting a large store takes it some work. */
const COUNT_AGAIN_MS = 30_000;

export async function show(view, { signal }) {
  const cards = h("div.cards", {});
  view.append(h("div.head", {}, h("h1", {}, "Health")), cards);
  let timer = 0;
  let overview = null;
  let countedAt = -Infinity;
  const look = async () => {
    const isOld = performance.now() - countedAt > COUNT_AGAIN_MS;
    if (isOld) countedAt = performance.now();
    const [told, counts] = await Promise.all([
      health(signal),
      isOld ? ask("store_overview", {}, signal).catch(() => null) : overview,
    ]);
    overview = counts;
    cards.replaceChildren(...(told.daemon ? alive(told, overview) : down(told, overview)));
    timer = setTimeout(() => look().catch(() => {}), AGAIN_MS);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  await look();
}

function alive(told, overview) {
  const daemon = told.daemon;
  const model = daemon.model ?? {};
  return [
    card(
      "Daemon",
      daemon.state === "ready" ? "Running" : daemon.state,
      [
        ["Since", at(daemon.daemon_started_at)],
        ["Process", daemon.pid],
        ["In memory", daemon.memory?.rss_mib ? `${number(daemon.memory.rss_mib)} MiB` : null],
      ],
      daemon.state === "ready",
    ),
    card(
      "Memories",
      kept(overview) ?? "unknown",
      [
        ["Sessions", overview ? number(overview.sessions) : null],
        ["Projects", overview ? number(overview.projects) : null],
        ["Links", overview ? number(overview.links) : null],
        ["Latest turn", at(overview?.last_said_at)],
        ["Last captured", at(overview?.last_captured_at)],
      ],
      true,
    ),
    card(
      "Spool",
      daemon.pending ? `${counted(daemon.pending, "turn")} waiting` : "Empty",
      [
        ["Last drain", at(daemon.drained_at)],
        ["Oldest", at(daemon.oldest_pending_at)],
        ["Set aside", daemon.failed ? number(daemon.failed) : "none"],
      ],
      !daemon.failed,
    ),
    card(
      "Quiet work",
      daemon.consolidating
        ? `At it: ${daemon.consolidating}`
        : daemon.scheduler_paused
          ? "Paused"
          : "Resting",
      [
        ["Last consolidation", at(daemon.consolidated_at) ?? "not yet"],
        ["Usual quiet hours", hours(daemon.quiet_window)],
      ],
      true,
    ),
    card(
      "Size",
      bytes(told.bytes),
      [
        ["Store", path(told.store)],
        ["Encrypted", "yes, whole"],
      ],
      true,
    ),
    card(
      "Served",
      `${number(daemon.tokens_served ?? 0)} tokens`,
      [["To assistants, since", at(daemon.daemon_started_at)]],
      true,
    ),
    card(
      "Model",
      model.name ?? "None",
      [
        ["State", model.name ? model.state : null],
        ["To be embedded", model.pending ? number(model.pending) : null],
        [
          "Without one",
          model.name ? null : "words are found, meaning is not: `iai-mcp model install`",
        ],
      ],
      Boolean(model.name),
    ),
    card(
      "Versions",
      told.program,
      [
        ["Daemon", daemon.version],
        ["Protocol", told.protocol],
      ],
      daemon.version === told.program,
    ),
  ];
}

function down(told, overview) {
  return [
    card(
      "Daemon",
      "Not running",
      [
        ["Start it", h("code", {}, "iai-mcp daemon start")],
        ["Why", told.why],
      ],
      false,
    ),
    card(
      "Memories",
      kept(overview) ?? "unknown",
      [["Latest turn", at(overview?.last_said_at)]],
      true,
    ),
    card(
      "Spool",
      told.waiting ? `${counted(told.waiting, "turn")} waiting` : "Empty",
      [["Kept until", told.waiting ? "the daemon runs again" : null]],
      true,
    ),
    card("Size", bytes(told.bytes), [["Store", path(told.store)]], true),
    card("Versions", told.program, [["Protocol", told.protocol]], true),
  ];
}

/** Counts what was said apart from what was taught and what was made of both, as `iai-mcp status` does. */
function kept(overview) {
  if (!overview) return null;
  const { memories, generated, taught = 0 } = overview;
  return [
    counted(memories - generated - taught, "turn"),
    taught ? `${counted(taught, "passage")} taught` : null,
    generated ? counted(generated, "summary") : null,
  ]
    .filter(Boolean)
    .join(", ");
}

function card(name, value, rows, isWell) {
  const shown = rows.filter(([, told]) => told !== null && told !== undefined && told !== "");
  return h(
    `section.card${isWell ? "" : ".unwell"}`,
    {},
    h("h2", {}, name),
    h("p.big", {}, value),
    h(
      "dl.facts",
      {},
      shown.map(([label, told]) =>
        h("div", {}, h("dt", {}, label), h("dd", {}, typeof told === "string" ? inline(told) : told)),
      ),
    ),
  );
}

function at(ts) {
  return ts ? h("time", { datetime: ts, title: moment(ts) }, since(ts)) : null;
}

function hours(window) {
  if (!window) return null;
  const clock = (half) =>
    `${String(Math.floor((half % 48) / 2)).padStart(2, "0")}:${half % 2 ? "30" : "00"}`;
  return `${clock(window[0])}–${clock(window[0] + window[1])} UTC`;
}

function bytes(n) {
  if (n < 1024 * 1024) return `${number(Math.ceil(n / 1024))} KiB`;
  const mebibytes = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
  return `${mebibytes.format(n / 1024 / 1024)} MiB`;
}
