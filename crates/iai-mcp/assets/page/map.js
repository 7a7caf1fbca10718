// The map of topics: clusters first, the members of one when it is looked at closely. The list
// beside it has the same, for the keyboard and for those who do not see the picture.

import { ask } from "./ask.js";
import { counted, glimpse, h, inline, number, shortProject, waiting } from "./elements.js";
import { pack } from "./packing.js";
import { Picture } from "./picture.js";

export const title = "Map";

/** How long somebody types before all topics are asked for. */
const TYPING_MS = 250;
/** Projects named under the picture. */
const PROJECTS_NAMED = 12;

export async function show(view, { query, signal, go }) {
  const wanted = query.get("topic");
  view.append(waiting("Reading …"));
  const told = await ask("picture_topics", {}, signal);
  if (!told.topics.length) return view.replaceChildren(...nothing(told));
  const shown = extent(told);
  await include(told.topics, wanted, signal);
  const chart = layOut(told.topics);
  const canvas = h("canvas", {
    tabindex: "0",
    role: "img",
    "aria-label": `Map of ${told.topics.length} topics. The list beside it has the same.`,
  });
  const tip = h("div.tip", { hidden: true });
  const panel = h("div.panel", {});
  const picture = new Picture(canvas, tip, chart, signal, {
    openTopic: (topic) => go.to(`#/map?topic=${topic.number}`),
    openMemory: (id) => go.to(`#/memory/${id}`),
  });
  const zoom = (name, label, act) =>
    h("button", { type: "button", "aria-label": name, title: name, onclick: act }, label);
  view.replaceChildren(
    h("div.head", {}, h("h1", {}, "Map of topics"), h("p.muted", {}, shown)),
    h(
      "div.map",
      {},
      h(
        "div.chart",
        {},
        h("div.canvas", {}, canvas, tip),
        h(
          "div.under-map",
          {},
          legend(chart),
          h(
            "div.zoom",
            {},
            zoom("Closer", "+", () => picture.zoomBy(1.6)),
            zoom("Farther", "−", () => picture.zoomBy(1 / 1.6)),
            zoom("The whole map", "⤢", () => (wanted ? go.to("#/map") : picture.whole(true))),
          ),
        ),
      ),
      panel,
    ),
  );
  picture.start();
  const chosen = chart.topics.find((topic) => String(topic.number) === wanted);
  if (chosen) {
    picture.closeUp(chosen);
    await members(panel, chosen, picture, signal);
  } else listing(panel, chart, told, signal);
}

function nothing(told) {
  return [
    h("div.head", {}, h("h1", {}, "Map of topics")),
    h(
      "p.empty",
      {},
      told.n_memories
        ? inline(
            `No topics among ${counted(told.n_memories, "memory")} yet. They are found in quiet ` +
              "hours; `iai-mcp maintenance sleep-cycle` does it now.",
          )
        : "Nothing is remembered yet.",
    ),
  ];
}

/** Adds the topic that is looked at, where it is smaller than those of the map. */
async function include(topics, wanted, signal) {
  if (!wanted || topics.some((topic) => String(topic.number) === wanted)) return;
  const found = await ask("picture_members", { topic: Number(wanted), limit: 1 }, signal).catch(
    () => null,
  );
  if (found) topics.push(found.topic);
}

/** How many topics there are, how many of them are drawn, and how much of what was said they have. */
function extent({ topics, has_more: hasMore, n_topics: nTopics, n_in_topics: nIn, n_turns: nTurns }) {
  const shown = hasMore
    ? `The largest ${number(topics.length)} of ${counted(nTopics, "topic")}`
    : counted(nTopics, "topic");
  return `${shown} · ${number(nIn)} of ${counted(nTurns, "turn")} belong to one`;
}

/** What circles, colours and dots mean. */
function legend(chart) {
  const named = chart.groups.filter((group) => group.key).sort((a, b) => b.r - a.r);
  const few = named.slice(0, PROJECTS_NAMED);
  return h(
    "div.legend",
    {},
    h(
      "ul.legend-projects",
      { "aria-label": "Projects by colour" },
      few.map((group) =>
        h(
          "li",
          { title: group.key },
          h(`span.dot.hue${group.topics[0].hue}`, { "aria-hidden": "true" }),
          shortProject(group.key),
        ),
      ),
      named.length > few.length ? h("li", {}, `${number(named.length - few.length)} more`) : null,
    ),
    h(
      "p",
      {},
      "A circle is a topic, the larger the more was said. Close up its turns are dots: a full one ",
      "opens, a pale one is not read yet; “More” beside the map reads on.",
    ),
  );
}

/** What a topic is called; one without a name by how a turn of it begins. */
export function nameOf({ label, opening }) {
  return label || (opening ? `“${opening}”` : "(no name)");
}

/** The topics as a list with a filter, which looks through all there are. */
function listing(panel, chart, told, signal) {
  const filter = h("input", {
    type: "search",
    id: "filter",
    placeholder: told.has_more ? `Filter all ${number(told.n_topics)} topics` : "Filter topics",
    "aria-label": "Filter topics",
  });
  const none = h("p.empty", { role: "status", hidden: true });
  const list = h("div.list.topics", {}, chart.topics.map(topicItem));
  const show = (topics, sought) => {
    list.replaceChildren(...topics.map(topicItem));
    none.hidden = topics.length > 0;
    none.textContent = `No topic is called “${sought}”. Search finds single memories.`;
  };
  const has = (topic, sought) =>
    `${nameOf(topic)} ${shortProject(topic.project) ?? ""}`.toLowerCase().includes(sought);
  const look = async () => {
    const sought = filter.value.trim().toLowerCase();
    if (!sought || !told.has_more) {
      return show(sought ? chart.topics.filter((topic) => has(topic, sought)) : chart.topics, sought);
    }
    const found = await ask("picture_topics", { filter: sought }, signal);
    if (filter.value.trim().toLowerCase() !== sought) return;
    const hues = new Map(chart.topics.map((topic) => [topic.project, topic.hue]));
    show(
      found.topics.map((topic) => ({ ...topic, hue: hues.get(topic.project) ?? 0 })),
      sought,
    );
  };
  let timer = 0;
  filter.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => look().catch(() => {}), told.has_more ? TYPING_MS : 0);
  });
  signal.addEventListener("abort", () => clearTimeout(timer));
  panel.replaceChildren(h("h2", {}, "Topics"), filter, none, list);
}

function topicItem(topic) {
  return h(
    "a.topic-item",
    { href: `#/map?topic=${topic.number}`, "data-item": "" },
    h(`span.dot.hue${topic.hue}`, { "aria-hidden": "true" }),
    h("span", {}, nameOf(topic)),
    h("span.muted.num", {}, number(topic.n_members)),
    topic.project ? h("span.muted.topic-project", {}, shortProject(topic.project)) : null,
  );
}

/** The members of a topic, page by page; the picture gets the same. */
async function members(panel, topic, picture, signal) {
  const list = h("div.list", {});
  const more = h("button", { type: "button", hidden: true }, "More");
  panel.replaceChildren(
    h("a.more-link", { href: "#/map" }, "← All topics"),
    h("h2", {}, nameOf(topic)),
    h(
      "p.muted",
      {},
      counted(topic.n_members, "turn"),
      topic.project ? ` · mostly ${shortProject(topic.project)}` : null,
    ),
    list,
    more,
  );
  const load = async () => {
    more.disabled = true;
    const { members: loaded, has_more: hasMore } = await picture.load(topic, signal);
    list.append(...loaded.map((member) => glimpse(member)));
    more.hidden = !hasMore;
    more.disabled = false;
  };
  more.addEventListener("click", () =>
    load().catch(() => {
      more.disabled = false;
    }),
  );
  list.append(...topic.members.map((member) => glimpse(member)));
  more.hidden = !topic.hasMore;
  if (!topic.members.length) await load();
}

/** Lays topics out: those of a project together, the largest in the middle. */
function layOut(told) {
  const groups = new Map();
  for (const topic of told) {
    const key = topic.project ?? "";
    if (!groups.has(key)) groups.set(key, []);
    groups
      .get(key)
      .push({
        ...topic,
        name: nameOf(topic),
        key: String(topic.number).padStart(12, "0"),
        r: Math.sqrt(topic.n_members + 2),
        members: [],
        hasMore: true,
      });
  }
  const circles = [...groups].map(([key, topics]) => ({
    key,
    topics,
    r: pack(topics) * 1.06 + 0.5,
  }));
  const radius = pack(circles);
  const order = [...circles].sort((a, b) => b.r - a.r || (a.key < b.key ? -1 : 1));
  for (const [place, circle] of order.entries()) {
    for (const topic of circle.topics) {
      Object.assign(topic, { x: topic.x + circle.x, y: topic.y + circle.y, hue: place % 6 });
    }
  }
  const topics = circles
    .flatMap((circle) => circle.topics)
    .sort((a, b) => b.n_members - a.n_members || (a.key < b.key ? -1 : 1));
  return { topics, groups: circles, radius: Math.max(radius, 1) };
}
