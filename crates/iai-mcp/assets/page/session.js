// One session as a conversation, in parts.

import { ask } from "./ask.js";
import { clock, dayKey, longDay } from "./dates.js";
import { forget } from "./dialogs.js";
import { counted, h, isTaught, kindOf, shortProject, speaker, waiting } from "./elements.js";
import { prose } from "./prose.js";

export const title = "Session";

const PAGE = 40;
const CLAMP_CHARS = 1400;

export async function show(view, { path, query, signal, go }) {
  const [host, session] = path;
  const at = query.get("at");
  const list = h("ol.turns", { "aria-label": "What was said" }, waiting("Reading …"));
  const earlier = h("button", { type: "button", hidden: true }, "Earlier turns");
  const later = h("button", { type: "button", hidden: true }, "Later turns");
  const head = h("div.head", {}, h("h1", {}, "Session"));
  view.append(head, h("div.more", {}, earlier), list, h("div.more", {}, later));
  const part = (where, limit = PAGE) =>
    ask("picture_session", { session, host, limit, ...where }, signal);
  const told = await part(at ? { around: at } : { skip: 0 });
  let [first, end] = [told.skip, told.skip + told.turns.length];
  const n = told.n_memories;
  const names = namesOf(told, session);
  head.replaceChildren(
    h(
      "div",
      {},
      h("h1", {}, names.title),
      h(
        "p.muted",
        {},
        `${told.turns[0] ? longDay(told.turns[0].ts) : ""} · ${counted(n, names.part)} · `,
        names.origin,
      ),
    ),
    h(
      "div.buttons",
      {},
      h(
        "button.danger-quiet",
        {
          type: "button",
          onclick: () => forget({ session }, () => go.to(names.home)),
        },
        `Forget this ${names.whole}`,
      ),
    ),
  );
  list.replaceChildren(...turns(told.turns, at));
  const set = () => {
    earlier.hidden = first <= 0;
    later.hidden = end >= n;
  };
  set();
  /** Reads turns; one answer may have no room for all of them. */
  const between = async (from, to) => {
    const read = [];
    while (from + read.length < to) {
      const { turns: more } = await part({ skip: from + read.length }, to - from - read.length);
      if (!more.length) break;
      read.push(...more);
    }
    return read;
  };
  earlier.addEventListener("click", async () => {
    const from = Math.max(0, first - PAGE);
    list.prepend(...turns(await between(from, first), null));
    first = from;
    set();
  });
  later.addEventListener("click", async () => {
    const to = Math.min(n, end + PAGE);
    list.append(...turns(await between(end, to), null));
    end = to;
    set();
  });
  list.querySelector(".turn.meant")?.scrollIntoView({ block: "center" });
}

/** What a session is called, and its parts; a file that was taught is read like one. */
function namesOf({ project, host, turns: [first] }, session) {
  if (isTaught(session)) {
    const taught = first?.provenance?.taught;
    const origin = taught?.file ? h("code", {}, taught.file) : "handed over on the page";
    const names = { whole: "file", part: "passage", home: "#/teach" };
    return { ...names, title: taught?.name ?? "File", origin };
  }
  const origin = [`${host} · `, h("code", {}, session)];
  const names = { whole: "session", part: "turn", home: "#/timeline" };
  return { ...names, title: project ? shortProject(project) : "Session", origin };
}

function turns(views, meant) {
  let day = "";
  return views.flatMap((view) => {
    const key = dayKey(view.ts);
    const heading = day && key !== day ? h("li.new-day", {}, longDay(view.ts)) : null;
    day = key;
    return [heading, turn(view, meant)].filter(Boolean);
  });
}

function turn(view, meant) {
  // What was taught has a place in its file rather than a time.
  const part = view.provenance?.taught?.part || null;
  const long = view.literal_surface.length > CLAMP_CHARS;
  const body = h(long ? "div.clamp" : "div", {}, prose(view.literal_surface));
  const unfold = long
    ? h(
        "button.quiet.unfold",
        {
          type: "button",
          "aria-expanded": "false",
          onclick: () => {
            body.classList.remove("clamp");
            unfold.remove();
          },
        },
        `Show all ${view.literal_surface.length.toLocaleString()} characters`,
      )
    : null;
  return h(
    `li.turn.${view.role}${view.record_id === meant ? ".meant" : ""}`,
    {},
    h(
      "div.turn-meta",
      {},
      speaker(view),
      h(
        "a",
        {
          href: `#/memory/${view.record_id}`,
          "data-item": "",
          "aria-label": `Open ${part ?? `what was said at ${clock(view.ts)}`}`,
        },
        part ?? h("time", { datetime: view.ts }, clock(view.ts)),
      ),
      view.pinned ? h("span.tag", {}, "pinned") : null,
      view.valid_to ? h("span.tag.old", {}, "replaced") : null,
      view.tier !== "episodic" && !part ? h("span.tag", {}, kindOf(view)) : null,
    ),
    h("div.turn-text", {}, body, unfold),
  );
}
