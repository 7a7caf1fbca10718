// The shell: enters with the ticket of the address, follows the address to a screen, and says
// truthfully when somebody on the other side is gone.

import { enter, isInside, onChange, watch } from "./ask.js";
import { showHelp } from "./dialogs.js";
import { h, inline } from "./elements.js";
import * as health from "./health.js";
import { listen } from "./keys.js";
import * as map from "./map.js";
import * as memory from "./memory.js";
import * as search from "./search.js";
import * as session from "./session.js";
import * as teach from "./teach.js";
import * as timeline from "./timeline.js";

/** Every screen by the first part of its address; those with a key stand in the bar. */
const SCREENS = [
  { name: "search", screen: search, isInBar: true },
  { name: "timeline", screen: timeline, isInBar: true },
  { name: "map", screen: map, isInBar: true },
  { name: "teach", screen: teach, isInBar: true },
  { name: "health", screen: health, isInBar: true },
  { name: "session", screen: session, under: "timeline" },
  { name: "file", screen: session, under: "teach" },
  { name: "memory", screen: memory, under: "search" },
];
const FIRST = "#/search";
const THEME = "iai-theme";

/** Where the reader was on a screen, by the place of that screen in the history. */
const places = new Map();
let at = 0;

const view = document.querySelector("#view");
let leaving = new AbortController();
let own = {};

const go = {
  to: (hash) => {
    location.hash = hash;
  },
  replace: (hash) => history.replaceState(history.state, "", hash),
  back: () => (history.length > 1 ? history.back() : go.to(FIRST)),
};

/** Out of what was opened; a screen of the bar is nothing one came into. */
function leave() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const isInBar = SCREENS.some((one) => one.isInBar && one.name === path);
  if (!isInBar || (path === "map" && query)) go.back();
}

/** Remembers where the reader is before the screen goes. */
function remember() {
  const item = document.activeElement?.closest?.("[data-item]");
  places.set(at, { href: item?.getAttribute("href"), y: window.scrollY });
}

/** Numbers the screens of the history, and returns where the reader was on this one before. */
function cameBack() {
  const place = history.state?.place;
  if (place === undefined) {
    at += 1;
    history.replaceState({ place: at }, "");
    places.delete(at);
    return null;
  }
  const was = place < at ? places.get(place) : null;
  at = place;
  return was;
}

/** Puts the reader back to the line they went away by. */
function putBack(place, was) {
  if (!was) return;
  const items = [...place.querySelectorAll("[data-item]")];
  items.find((item) => item.getAttribute("href") === was.href)?.focus({ preventScroll: true });
  window.scrollTo(0, was.y);
}

async function follow() {
  const was = cameBack();
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decodeURIComponent);
  const found = SCREENS.find((one) => one.name === name);
  if (!found) return go.to(FIRST);
  leaving.abort();
  leaving = new AbortController();
  own = {};
  const { signal } = leaving;
  markBar(found.isInBar ? found.name : found.under);
  document.title = `${found.screen.title} · iai-mcp`;
  view.className = `screen-${found.name}`;
  const place = h("div.place", {});
  view.replaceChildren(place);
  window.scrollTo(0, 0);
  view.focus({ preventScroll: true });
  const acts = (keys) => {
    own = keys;
  };
  try {
    await found.screen.show(place, {
      path: rest,
      query: new URLSearchParams(query),
      signal,
      go,
      acts,
    });
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted) return;
    place.replaceChildren(h("p.empty", { role: "alert" }, inline(error.message)));
  }
  putBack(place, was);
  place.dataset.ready = "";
}

function markBar(name) {
  for (const link of document.querySelectorAll(".screens a")) {
    if (link.dataset.name === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function makeBar() {
  const links = SCREENS.filter((one) => one.isInBar).map((one) =>
    h("a", { href: `#/${one.name}`, "data-name": one.name }, one.screen.title),
  );
  document.querySelector(".screens").append(...links);
  document.querySelector("[data-act=theme]").addEventListener("click", turnTheme);
  document.querySelector("[data-act=help]").addEventListener("click", showHelp);
  document.querySelector("[data-skip]").addEventListener("click", (event) => {
    event.preventDefault();
    view.focus();
  });
}

function makeKeys() {
  const keys = {
    "/": toSearch,
    "?": showHelp,
    d: turnTheme,
    back: leave,
    get p() {
      return own.p;
    },
    get c() {
      return own.c;
    },
    get f() {
      return own.f;
    },
    get b() {
      return own.b;
    },
    get n() {
      return own.n;
    },
    get o() {
      return own.o;
    },
  };
  listen(
    keys,
    SCREENS.filter((one) => one.isInBar).map((one) => `#/${one.name}`),
  );
}

/** A file may be dropped on any screen; a browser would leave the page for it. */
function makeDrops() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const shine = (isOver) => document.body.classList.toggle("dropping", isOver);
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    shine(true);
  });
  addEventListener("dragleave", (event) => shine(event.relatedTarget !== null));
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    shine(false);
    teach.take(event.dataTransfer.files);
    go.to("#/teach");
  });
}

function toSearch() {
  const field = document.querySelector("#cue");
  if (field) return field.select();
  go.to(FIRST);
}

function turnTheme() {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (isDark ? "dark" : "light");
  localStorage.setItem(THEME, now === "dark" ? "light" : "dark");
  dress();
}

function dress() {
  const theme = localStorage.getItem(THEME);
  if (theme) document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("themechange"));
}

/** Says what is not there, and looks again at the screen when it is back. */
function notice(now, before) {
  const line = document.querySelector(".notice");
  const words = {
    up: [],
    down: [
      "The daemon is not running. What you see is read from the store as it is; ",
      "nothing can be changed until it runs: ",
      h("code", {}, "iai-mcp daemon start"),
    ],
    gone: [
      "The program behind this page has ended. Open it again with ",
      h("code", {}, "iai-mcp brain"),
    ],
  }[now];
  line.replaceChildren(...words);
  line.hidden = now === "up";
  if (now === "up" && before !== "up") follow();
}

async function begin() {
  dress();
  makeBar();
  const ticket = location.hash.match(/^#enter=([0-9a-f]+)$/)?.[1];
  if (ticket) {
    go.replace(FIRST);
    if (!(await enter(ticket)) && !(await isInside())) {
      view.replaceChildren(
        h(
          "p.empty",
          { role: "alert" },
          "This address was used already. Run ",
          h("code", {}, "iai-mcp brain"),
          " again for a new one.",
        ),
      );
      return;
    }
  }
  onChange(notice);
  makeKeys();
  makeDrops();
  history.scrollRestoration = "manual";
  addEventListener("hashchange", () => {
    remember();
    follow();
  });
  watch();
  await follow();
}

begin();
