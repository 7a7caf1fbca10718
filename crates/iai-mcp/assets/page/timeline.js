// The timeline: sessions by day and project, page by page, with a year at a glance.

import { ask } from "./ask.js";
import { ago, clock, dayKey, endOf, lasted, longDay, moment, utcOffsetMinutes } from "./dates.js";
import { counted, h, inline, number, plain, projectChoice, shortProject, waiting } from "./elements.js";

export const title = "Timeline";

const PAGE = 30;
const WEEKS = 53;
const DAY = 86_400_000;

export async function show(view, { query, signal, go }) {
  const project = query.get("project") ?? "";
  const until = query.get("until") ?? "";
  const choice = h("select", { id: "project" }, h("option", { value: "" }, "All projects"));
  const day = h("input", { type: "date", id: "until", value: until });
  const year = h("div.year", {
    role: "img",
    tabindex: "0",
    "aria-label": "The last year, day by day; the field “Up to” goes to a day",
  });
  const list = h("div.days", {});
  const more = h("button", { type: "button", hidden: true }, "Earlier");
  const total = h("p.count", { role: "status" });
  view.append(
    h(
      "div.head",
      {},
      h("h1", {}, "Timeline"),
      h(
        "div.filters",
        {},
        h("div.filter", {}, h("label", { for: "project" }, "Project"), choice),
        h("div.filter", {}, h("label", { for: "until" }, "Up to"), day),
      ),
    ),
    year,
    total,
    list,
    h("div.more", {}, more),
  );
  const wish = () => {
    const asked = new URLSearchParams();
    if (choice.value) asked.set("project", choice.value);
    if (day.value) asked.set("until", day.value);
    go.to(`#/timeline${asked.size ? `?${asked}` : ""}`);
  };
  choice.addEventListener("change", wish);
  day.addEventListener("change", wish);

  let next = until ? { ended: endOf(until).toISOString(), session_id: null } : null;
  list.append(waiting("Reading …"));
  const first = await page(project, null, signal, until ? 1 : PAGE);
  for (const line of first.projects ?? []) {
    if (line.n_sessions) choice.append(projectChoice(line));
  }
  choice.value = project;
  year.replaceChildren(...strip(first.days ?? []));
  year.addEventListener("click", (event) => {
    if (!event.target.dataset.day) return;
    day.value = event.target.dataset.day;
    wish();
  });
  year.scrollLeft = year.scrollWidth;
  const whose = project ? ` of ${shortProject(project)}` : "";
  const tell = (n) => {
    total.textContent = counted(n, "session") + whose + (until ? ` up to ${until}` : "");
  };
  list.replaceChildren();
  let last = "";
  const add = (sessions) => {
    for (const line of sessions) {
      const key = dayKey(line.ended);
      if (key !== last) {
        list.append(
          h(
            "section.day",
            {},
            h("h2", {}, longDay(line.ended), h("span.muted", {}, ago(line.ended))),
            h("div.list", {}),
          ),
        );
        last = key;
      }
      list.lastChild.lastChild.append(sessionItem(line, false));
    }
  };
  const load = async () => {
    more.disabled = true;
    const told = await page(project, next, signal, PAGE);
    add(told.sessions);
    next = told.next;
    more.hidden = !next;
    more.disabled = false;
    return told;
  };
  if (until) tell((await load()).total);
  else {
    tell(first.total);
    add(first.sessions);
    next = first.next;
    more.hidden = !next;
  }
  if (!list.children.length) list.append(h("p.empty", {}, "No sessions here."));
  more.addEventListener("click", () =>
    load().catch((error) => {
      more.disabled = false;
      total.replaceChildren(...inline(error.message));
    }),
  );
  const seen = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting) && !more.hidden && !more.disabled)
        more.click();
    },
    { rootMargin: "400px" },
  );
  seen.observe(more);
  signal.addEventListener("abort", () => seen.disconnect());
}

function page(project, cursor, signal, limit) {
  return ask(
    "picture_sessions",
    {
      limit,
      utc_offset_minutes: utcOffsetMinutes(),
      ...(project ? { project } : {}),
      ...(cursor ? { after_ended: cursor.ended, after_session: cursor.session_id } : {}),
    },
    signal,
  );
}

/** One session as a line that leads to it. */
export function sessionItem(line, isDated) {
  const host = encodeURIComponent(line.host);
  return h(
    "a.session",
    { href: `#/session/${host}/${encodeURIComponent(line.session_id)}`, "data-item": "" },
    h(
      "time.session-time",
      { datetime: line.ended },
      isDated ? moment(line.ended) : clock(line.began),
    ),
    h("span.session-words", {}, plain(line.opening ?? "(nothing said by you)")),
    h(
      "span.session-meta",
      {},
      line.project ? h("span.tag", { title: line.project }, shortProject(line.project)) : null,
      isDated ? h("span", {}, ago(line.ended)) : null,
      h("span", {}, counted(line.n_memories, "turn")),
      h("span", {}, lasted(line.began, line.ended)),
      h("span", {}, line.host),
      line.topics.map((topic) => h("span.topic", {}, topic)),
    ),
  );
}

/** A year of days, darker where more was said. For the mouse and the eye; the date field beside it
 *  does the same for the keyboard. */
function strip(days) {
  if (!days.length) return [];
  const counts = new Map(days.map((day) => [day.day, day]));
  const most = Math.max(...days.map((day) => day.n_memories));
  const today = new Date();
  today.setHours(12, 0, 0, 0);
  const weekday = (today.getDay() + 6) % 7;
  const start = today.getTime() - ((WEEKS - 1) * 7 + weekday) * DAY;
  const cells = [];
  for (let at = start; at <= today.getTime(); at += DAY) {
    const key = dayKey(at);
    const told = counts.get(key);
    const level = told ? Math.max(1, Math.ceil(4 * Math.sqrt(told.n_memories / most))) : 0;
    const name = told
      ? `${key}: ${number(told.n_sessions)} sessions, ${number(told.n_memories)} turns`
      : key;
    cells.push(
      told ? h(`span.cell.level${level}`, { "data-day": key, title: name }) : h("span.cell", {}),
    );
  }
  return [h("div.months", {}, months(start)), h("div.cells", {}, cells)];
}

/** The names of the months, each above the week in which it begins. */
function months(start) {
  const name = new Intl.DateTimeFormat(undefined, { month: "short" });
  const labels = [];
  let before = new Date(start).getMonth();
  for (let week = 1; week < WEEKS - 1; week += 1) {
    const first = new Date(start + week * 7 * DAY);
    if (first.getMonth() === before) continue;
    before = first.getMonth();
    const label = h("span", {}, name.format(first));
    label.style.setProperty("grid-column", String(week + 1));
    labels.push(label);
  }
  return labels;
}
