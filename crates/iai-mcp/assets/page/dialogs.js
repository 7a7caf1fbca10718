// Dialogs: the help, a correction, and what would be forgotten before it is.

import { ask } from "./ask.js";
import { moment } from "./dates.js";
import { counted, h, inline, shortProject, speaker } from "./elements.js";
import { help } from "./keys.js";

/** Says something in passing. */
export function say(words) {
  const toast = document.querySelector(".toast");
  toast.replaceChildren(...inline(words));
  toast.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => toast.classList.remove("shown"), 6000);
}

/** Opens a dialog; returns what closes it. */
function open(title, ...content) {
  const dialog = h(
    "dialog",
    { "aria-labelledby": "dialog-title" },
    h(
      "div.dialog-head",
      {},
      h("h2", { id: "dialog-title" }, title),
      h(
        "button.quiet",
        { type: "button", "aria-label": "Close", onclick: () => dialog.close() },
        "✕",
      ),
    ),
    content,
  );
  const came = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    came?.focus?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return () => dialog.close();
}

export function showHelp() {
  open("Keyboard", help());
}

/** Asks before something is replaced; true when the reader says so. */
export function confirmed(title, words, yes) {
  return new Promise((decide) => {
    const sure = h(
      "button.primary",
      {
        type: "button",
        onclick: () => {
          decide(true);
          close();
        },
      },
      yes,
    );
    const keep = h("button", { type: "button", onclick: () => close() }, "Leave it");
    const close = open(title, h("p", {}, words), h("div.buttons", {}, sure, keep));
    sure.closest("dialog").addEventListener("close", () => decide(false));
    sure.focus();
  });
}

/** Lets the reader say what holds instead of a memory. */
export function correct(memory, done) {
  const words = h("textarea", {
    id: "correction",
    rows: "6",
    required: true,
    value: memory.literal_surface,
    onkeydown: (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    },
  });
  const save = h("button.primary", { type: "submit" }, "Keep the correction");
  const form = h(
    "form",
    { onsubmit: (event) => send(event) },
    h(
      "p.muted",
      {},
      "What was said stays as it was. It is marked as replaced, ",
      "and what you write here is told instead.",
    ),
    h("label", { for: "correction" }, "What holds now"),
    words,
    h("div.buttons", {}, save),
  );
  const close = open("Correct this memory", form);
  words.select();
  async function send(event) {
    event.preventDefault();
    const text = words.value.trim();
    if (!text || text === memory.literal_surface.trim())
      return complain(form, "say what holds instead");
    save.disabled = true;
    try {
      const answer = await ask("memory_contradict", { id: memory.record_id, new_fact: text });
      close();
      say("Corrected.");
      done(answer.new_record_id);
    } catch (error) {
      save.disabled = false;
      complain(form, error.message.replace("`new_fact`", "this"));
    }
  }
}

/** Shows what a wish would forget, and forgets only that, when the reader says so. */
export async function forget(wish, done) {
  let preview;
  try {
    preview = await ask("memory_forget_asked", wish);
  } catch (error) {
    return say(`Nothing was forgotten: ${error.message}`);
  }
  const lines = preview.memories.map((line) =>
    h(
      "li",
      {},
      h(
        "span.glimpse-meta",
        {},
        speaker(line),
        h("time", {}, moment(line.ts)),
        shortProject(line.project),
      ),
      h("span", {}, line.first_words),
    ),
  );
  const rest = preview.count - preview.memories.length;
  const sure = h(
    "button.danger",
    { type: "button", onclick: go },
    `Forget ${counted(preview.count, "memory")} for good`,
  );
  const body = h(
    "div",
    {},
    h(
      "p.muted",
      {},
      "These words go from the store, from every index and from what waits on its way in. ",
      "A receipt without words is kept. There is no way back but an older backup.",
    ),
    h(
      "ul.going",
      { tabindex: "0", "aria-label": "What would go" },
      lines,
      rest > 0 ? h("li.muted", {}, `and ${rest} more`) : null,
    ),
    h("div.buttons", {}, sure, h("button", { type: "button", onclick: () => close() }, "Keep")),
  );
  const close = open("Forget", body);
  async function go() {
    sure.disabled = true;
    try {
      let told = await ask("memory_forget_asked", { ...wish, confirm: preview.confirm });
      while (!told.is_finished && !told.failed) {
        say(`Forgetting: ${told.left} to go.`);
        told = await ask("forget_status", { receipt: told.receipt });
      }
      close();
      say(`Forgotten: ${preview.count}. Receipt ${told.receipt}.`);
      done();
    } catch (error) {
      sure.disabled = false;
      complain(body, error.message);
    }
  }
}

function complain(place, words) {
  place.querySelector(".complaint")?.remove();
  place.append(h("p.complaint", { role: "alert" }, inline(words)));
}
