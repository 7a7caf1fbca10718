// The map of topics: clusters first, the members of one when it is looked at closely. The list
// beside it has the same, for the keyboard and for those who do not see the picture.

import { ask } from "./ask.js";
import { counted, glimpse, h, inline, number, shortProject, waiting } from "./elements.js";
import { pack } from "./packing.js";
import { Picture } from "./picture.js";

export const title = "Map";

export async function show(view, { query, signal, go }) {
  const wanted = query.get("topic");
  view.append(waiting("Reading …"));
  const told = await ask("picture_topics", {}, signal);
  if (!told.topics.length) {
    return view.replaceChildren(
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
    );
  }
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
    h(
      "div.head",
      {},
      h("h1", {}, "Map of topics"),
      h(
        "p.muted",
        {},
        told.has_more ? "The largest " : null,
        `${counted(told.topics.length, "topic")} · `,
        `${number(told.n_in_topics)} of ${number(told.n_memories)} memories belong to ${told.has_more ? "these" : "one"}`,
      ),
    ),
    h(
      "div.map",
      {},
      h(
        "div.canvas",
        {},
        canvas,
        tip,
        h(
          "div.zoom",
          {},
          zoom("Closer", "+", () => picture.zoomBy(1.6)),
          zoom("Farther", "−", () => picture.zoomBy(1 / 1.6)),
          zoom("The whole map", "⤢", () => (wanted ? go.to("#/map") : picture.whole(true))),
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
  } else listing(panel, chart);
}

/** The topics as a list with a filter. */
function listing(panel, chart) {
  const filter = h("input", {
    type: "search",
    id: "filter",
    placeholder: "Filter topics",
    "aria-label": "Filter topics",
  });
  const items = chart.topics.map((topic) =>
    h(
      "a.topic-item",
      { href: `#/map?topic=${topic.number}`, "data-item": "" },
      h(`span.dot.hue${topic.hue}`, { "aria-hidden": "true" }),
      h("span", {}, topic.label || "(no name)"),
      h("span.muted.num", {}, number(topic.n_members)),
      topic.project ? h("span.muted.topic-project", {}, shortProject(topic.project)) : null,
    ),
  );
  filter.addEventListener("input", () => {
    const sought = filter.value.trim().toLowerCase();
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(sought);
  });
  panel.replaceChildren(h("h2", {}, "Topics"), filter, h("div.list.topics", {}, items));
}

/** The members of a topic, page by page; the picture gets the same. */
async function members(panel, topic, picture, signal) {
  const list = h("div.list", {});
  const more = h("button", { type: "button", hidden: true }, "More");
  panel.replaceChildren(
    h("a.more-link", { href: "#/map" }, "← All topics"),
    h("h2", {}, topic.label || "(no name)"),
    h(
      "p.muted",
      {},
      counted(topic.n_members, "memory"),
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
  // What has no name says least, however large it is.
  const rank = (topic) => (topic.label ? 0 : 1);
  const topics = circles
    .flatMap((circle) => circle.topics)
    .sort(
      (a, b) => rank(a) - rank(b) || b.n_members - a.n_members || (a.key < b.key ? -1 : 1),
    );
  return { topics, groups: circles, radius: Math.max(radius, 1) };
}
