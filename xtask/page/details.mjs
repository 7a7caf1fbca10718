// What a newcomer meets: numbers that mean what they say, words where nothing fits, a way back to
// where one was, and the truth about who is not there.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TARGET_PX_MIN = 24;
const DAY_MS = 86_400_000;

/** Has something decided, and replaced some days later. */
export function changeAMind(run) {
  const folder = mkdtempSync(join(tmpdir(), "iai-page-said-"));
  const said = [
    ["kiln-one", 2, "Decision: the kiln uploader keeps its retry count at 5.", "Noted."],
    ["kiln-two", 1, "Actually, use 7 retries of the kiln uploader instead of 5.", "Changed."],
  ];
  for (const [session, daysAgo, ask, answer] of said) {
    const at = Date.now() - daysAgo * DAY_MS;
    const line = (type, text, place) =>
      JSON.stringify({
        type,
        uuid: `${session}-${place}`,
        sessionId: session,
        timestamp: new Date(at + place * 1000).toISOString(),
        cwd: "/home/dev/pottery",
        message: { role: type, content: text },
      });
    const file = join(folder, `${session}.jsonl`);
    writeFileSync(file, `${line("user", ask, 0)}\n${line("assistant", answer, 1)}\n`);
    run("capture-transcript", file);
  }
}

/** The home page shows what replaced a decision beside it. */
export async function home(visit) {
  const { page } = visit;
  await visit.go("#/search");
  const decision = page.locator(".decision", { hasText: "retry count at 5" });
  await decision.getByText("use 7 retries of the kiln uploader").waitFor();
  await decision.getByText(/^Since then/).waitFor();
  const menu = await page.locator("#project option").allInnerTexts();
  assert.ok(menu.some((one) => /· \d+ sessions?$/.test(one)), `numbers without a name: ${menu}`);
  await visit.look("since");
}

/** Hits are counted as shown; where nothing fits, the page says so and what to try. */
export async function nothingFits(visit, find) {
  const { page } = visit;
  const count = () => page.locator(".results .count").innerText();
  await find(visit, "which retry policy did we decide on for a declined card");
  assert.match(await count(), /^\d+ shown, best first, in /);
  const summary = await page.locator(".why summary").first().boundingBox();
  assert.ok(summary.height >= TARGET_PX_MIN, `a target of ${summary.height} px`);
  await find(visit, "retry zebra giraffe xylophone quartz lantern walnut pretzel");
  assert.equal(await count(), "Nothing fits well. This comes nearest:");
  assert.equal(await page.locator(".meter").count(), 0, "a bar though nothing fits");
  assert.equal(await page.getByText("Why this first").count(), 0);
  assert.ok((await page.locator(".hits").first().locator("li").count()) <= 5);
  await visit.look("doubt");
  await find(visit, "zyzzyva");
  assert.equal(await count(), "Nothing found.");
  await page.getByText("Try other words for it").waitFor();
  await visit.look("nothing");
  await find(visit, "hello");
  await page.getByText(/^Only common words/).waitFor();
}

/** The map says what it shows, and its filter says when nothing is called so. */
export async function map(visit) {
  const { page } = visit;
  await visit.go("#/map");
  const extent = await page.locator(".head .muted").innerText();
  assert.match(extent, /topics? · [\d,]+ of [\d,]+ turns belong to one$/);
  const [canvas, zoom] = await Promise.all(
    ["canvas", ".zoom"].map((one) => page.locator(one).boundingBox()),
  );
  assert.ok(zoom.y >= canvas.y + canvas.height, "the buttons lie over the picture");
  assert.ok((await page.locator(".legend-projects li").count()) >= 2, "projects have no names");
  const sizes = await page.locator(".topic-item .num").allInnerTexts();
  const sorted = [...sizes].sort((a, b) => Number(b) - Number(a));
  assert.deepEqual(sizes, sorted, "the list is not by size");
  await page.fill("#filter", "zyzzyva");
  await page.getByText("No topic is called “zyzzyva”").waitFor();
  await page.fill("#filter", "");
  await page.locator(".topic-item").first().waitFor();
}

/** A list up to a day counts what it has. */
export async function upTo(visit) {
  const { page } = visit;
  await visit.go("#/timeline");
  const number = async () => Number((await page.locator(".count").innerText()).match(/^\d+/)[0]);
  const all = await number();
  const day = await page.locator(".cell[data-day]").nth(2).getAttribute("data-day");
  await visit.go(`#/timeline?until=${day}`);
  assert.match(await page.locator(".count").innerText(), new RegExp(`up to ${day}$`));
  assert.ok((await number()) < all, "the count does not follow the day");
  await visit.go("#/health");
  await page.getByText("Latest turn").waitFor();
}

/** Escape comes back to the hit one went away by. */
export async function back(visit, find) {
  const { page } = visit;
  await find(visit, "retry policy");
  await page.locator(".hit-words").nth(4).focus();
  const href = await page.locator(".hit-words").nth(4).getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForSelector("article.words");
  await visit.ready();
  await page.keyboard.press("Escape");
  await page.waitForSelector(".hit-words:focus");
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("href"));
  assert.equal(await focused(), href);
  await page.keyboard.press("j");
  assert.equal(await focused(), await page.locator(".hit-words").nth(5).getAttribute("href"));
}

/** Simple Markdown is drawn, and nothing of it is markup. */
export async function markdown(visit, find) {
  const { page } = visit;
  await find(visit, "contrast of the legend");
  await page.locator(".hit-words").first().click();
  await page.getByRole("button", { name: "Correct" }).click();
  await page.fill(
    "#correction",
    "### Colours ###\n\nThe **legend** is <i>teal</i>:\n\n- on `white` paper\n- at night\n  1. dimmed\n\n2. later\n\n" +
      // Lines that a careless pattern looks at for minutes.
      `#${" ".repeat(4000)}x${" ".repeat(4000)}\u2028y\n# x${" ".repeat(8000)}y`,
  );
  await page.getByRole("button", { name: "Keep the correction" }).click();
  await page.waitForSelector(".replaces");
  const words = page.locator("article.words");
  assert.equal(await words.locator("strong").innerText(), "legend");
  assert.equal(await words.locator("li").count(), 4);
  assert.equal(await words.locator("ul li ol li").innerText(), "dimmed");
  assert.equal(await words.locator("i").count(), 0, "words became markup");
  const drawn = await words.innerText();
  assert.ok(drawn.includes("<i>teal</i>") && !drawn.includes("**") && !drawn.includes("###"));
  await visit.look("markdown");
}

/** Without a daemon, nothing is offered that cannot be done; whoever looks is told unasked. */
export async function asleep(visit, run, drop) {
  const { page } = visit;
  await visit.go("#/teach");
  run("daemon", "stop");
  await page.waitForSelector(".notice:not([hidden])");
  await page.getByText("nothing can be taught or removed").waitFor();
  assert.ok(await page.getByRole("button", { name: "Choose files" }).isDisabled());
  await drop(page, "late.md", "The lamp is out.\n");
  await page.getByText(/late\.md was not taught: the daemon is not running/).waitFor();
  await visit.look("teach-no-daemon");
  run("daemon", "start");
  await page.waitForSelector(".notice[hidden]", { state: "attached" });
  await page.waitForFunction(() => !document.querySelector(".drop button")?.disabled);
}
