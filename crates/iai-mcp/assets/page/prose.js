// Draws the simple part of Markdown that people and assistants write: headings, lists, bold words,
// code. Every word goes into the page as text; what is not understood stays as it was written.

import { h } from "./elements.js";

/** What a line begins with. Neither looks farther than it must: a stranger may have written it. */
const HEADING = /^#{1,6} +(?=\S)/;
const ITEM = /^( {0,40})(?:[-*+•]|(\d{1,4})[.)]) +/;
const BOLD = /\*\*(?=\S)([^*\n]{1,400}?\S)\*\*|__(?=\S)([^_\n]{1,400}?\S)__/;
/** Blanks of one level of a list, and the deepest that is drawn. */
const INDENT = 2;
const LEVEL_MAX = 4;

/** Shows a text: fences become code, everything else line by line. */
export function prose(text) {
  const body = h("div.prose", {});
  for (const [place, part] of text.split(/^```/m).entries()) {
    if (place % 2 === 1) {
      const end = part.indexOf("\n");
      const code = end < 0 ? part : part.slice(end + 1);
      body.append(h("pre", { tabindex: "0" }, h("code", {}, code.replace(/\n$/, ""))));
    } else body.append(...blocks(part.replace(/^\n+|\n+$/g, "")));
  }
  return body;
}

/** Parts lines into paragraphs, headings and lists. */
function blocks(text) {
  const made = [];
  let lines = [];
  const close = () => {
    const words = lines.join("\n").replace(/^\n+|\n+$/g, "");
    if (words) made.push(h("p", {}, spans(words)));
    lines = [];
  };
  for (const written of text.split(/\r?\n|[\r\u2028\u2029]/)) {
    const line = written.replaceAll("\t", "  ").trimEnd();
    const [heading, item] = [line.match(HEADING), line.match(ITEM)];
    if (heading) {
      close();
      // No heading of the page: its outline is not the text's.
      made.push(h("p.prose-head", {}, spans(withoutHashes(line.slice(heading[0].length)))));
    } else if (item) {
      close();
      made.push(...put(made, item, line.slice(item[0].length)));
    } else lines.push(line);
  }
  close();
  return made;
}

/** Takes away what closes a heading: "## Next ##". */
function withoutHashes(words) {
  let end = words.length;
  while (end > 0 && words[end - 1] === "#") end -= 1;
  return end < words.length && words[end - 1] === " " ? words.slice(0, end).trimEnd() : words;
}

/** Puts an item into the list before it, or returns a list that begins with it. */
function put(made, [, blanks, count], words) {
  const item = h("li", count ? { value: count } : {}, spans(words));
  const kind = count ? "OL" : "UL";
  let level = Math.min(LEVEL_MAX, Math.floor(blanks.length / INDENT));
  let list = isList(made.at(-1)) ? made.at(-1) : null;
  // Down into the list of the last item, as far as there is one.
  while (level > 0 && isList(list?.lastElementChild?.lastElementChild)) {
    list = list.lastElementChild.lastElementChild;
    level -= 1;
  }
  if (list && level > 0) list.lastElementChild.append(h(kind.toLowerCase(), {}, item));
  else if (list?.tagName === kind) list.append(item);
  else return [h(kind.toLowerCase(), {}, item)];
  return [];
}

function isList(element) {
  return element?.tagName === "OL" || element?.tagName === "UL";
}

/** Shows bold words and code within a line; `leaf` makes of plain words what is to be shown. */
export function spans(text, leaf = (words) => [words]) {
  const parts = text.split(/`([^`\n]{1,200})`/);
  return parts.flatMap((part, place) =>
    place % 2 === 1 ? h("code", {}, leaf(part)) : bold(part, leaf),
  );
}

function bold(text, leaf) {
  const made = [];
  let rest = text;
  for (let found = rest.match(BOLD); found; found = rest.match(BOLD)) {
    made.push(...leaf(rest.slice(0, found.index)), h("strong", {}, leaf(found[1] ?? found[2])));
    rest = rest.slice(found.index + found[0].length);
  }
  return [...made, ...leaf(rest)];
}
