// The keyboard: one key for each thing, a way through lists, and the help that lists them.

import { h } from "./elements.js";

const SWITCH = "iai-keys-off";

const KEYS = [
  ["/", "Search"],
  ["j  k  ↓  ↑", "Through the list"],
  ["Enter", "Open"],
  ["Esc", "Back, or close"],
  ["1 – 5", "Search, timeline, map, teach, health"],
  ["p", "Pin or unpin the memory shown"],
  ["c", "Correct it"],
  ["f", "Forget it, after a look at what would go"],
  ["b  n", "The turn before, the turn after"],
  ["o", "Choose files to teach"],
  ["d", "Light or dark"],
  ["?", "This help"],
];

/** Starts listening; `acts` maps keys to functions, `screens` has the hashes for 1, 2, … */
export function listen(acts, screens) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const field = event.target.closest?.("input, textarea, select");
    if (field) return leaveField(event, field);
    const act = key(event, acts, screens);
    if (act) {
      event.preventDefault();
      act();
    }
  });
}

function key(event, acts, screens) {
  const pressed = event.key;
  if (pressed === "Escape") return acts.back;
  const onMap = event.target.closest?.("canvas");
  const step = onMap ? 0 : { ArrowDown: 1, ArrowUp: -1 }[pressed];
  if (step && items().length) return () => move(step);
  if (localStorage.getItem(SWITCH)) return null;
  if (pressed === "j" || pressed === "k") return () => move(pressed === "j" ? 1 : -1);
  const screen = screens[Number(pressed) - 1];
  if (screen)
    return () => {
      location.hash = screen;
    };
  return acts[pressed];
}

function leaveField(event, field) {
  if (event.key === "Escape") field.blur();
  const goesDown = event.key === "ArrowDown" && field.type === "search";
  if (goesDown && items().length) {
    event.preventDefault();
    items()[0].focus();
  }
}

function items() {
  return [...document.querySelectorAll("main [data-item]")].filter((item) => item.offsetParent);
}

function move(step) {
  const all = items();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement.closest?.("[data-item]"));
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step;
  const item = all[Math.max(0, Math.min(all.length - 1, next))];
  item.focus();
  item.scrollIntoView({ block: "nearest" });
}

/** What the help dialog shows. */
export function help() {
  const off = h("input", {
    type: "checkbox",
    id: "keys-off",
    checked: Boolean(localStorage.getItem(SWITCH)),
  });
  off.addEventListener("change", () => {
    if (off.checked) localStorage.setItem(SWITCH, "1");
    else localStorage.removeItem(SWITCH);
  });
  const rows = KEYS.map(([keys, what]) =>
    h(
      "div.key",
      {},
      h(
        "dt",
        {},
        keys.split("  ").map((one) => h("kbd", {}, one)),
      ),
      h("dd", {}, what),
    ),
  );
  return [
    h("dl.keys", {}, rows),
    h("label.check", { for: "keys-off" }, off, "No single-letter keys"),
  ];
}
