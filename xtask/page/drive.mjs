// Clicks through every screen of the page in headless Chromium, wide and narrow, light and dark,
// once by the keyboard alone. Run by `cargo xtask page`, in the environment of a throw-away home:
//   node drive.mjs BINARY BROWSER N_MEMORIES [VISIT…]

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import * as details from "./details.mjs";

const [binary, browserName, nMemories, ...only] = process.argv.slice(2);
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 360, height: 740 };
const CUE = "which retry policy did we decide on for a declined card";
const PATIENCE_MS = 30_000;
const started = [];

function run(...words) {
  const done = spawnSync(binary, words, { encoding: "utf8" });
  assert.equal(done.status, 0, `${words.join(" ")}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}

/** Starts the page's program and returns its address, which is good once. */
async function brain() {
  const child = spawn(binary, ["--json", "brain", "--no-open"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  for await (const line of createInterface({ input: child.stdout }))
    return { child, url: JSON.parse(line).url };
  throw new Error("`iai-mcp brain` ended without an address");
}

/** A browser window that notes whatever must not happen. */
class Visit {
  static async open(browser, name, options) {
    const { child, url } = await brain();
    const context = await browser.newContext({
      viewport: WIDE,
      reducedMotion: "reduce",
      ...options,
    });
    const page = await context.newPage();
    const visit = Object.assign(new Visit(), {
      name,
      child,
      context,
      page,
      faults: [],
      isOver: false,
      origin: new URL(url).origin,
    });
    page.setDefaultTimeout(PATIENCE_MS);
    await page.addInitScript(() => {
      window.violations = [];
      addEventListener("securitypolicyviolation", (event) =>
        window.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    page.on("console", (message) => {
      // The page asks again and again whether its program is back, and Chromium notes each time.
      if (visit.isOver && message.text().includes("ERR_CONNECTION_REFUSED")) return;
      if (message.type() === "error" || message.type() === "warning")
        visit.faults.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => visit.faults.push(`error: ${error.message}`));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${visit.origin}/`) && !request.url().startsWith("data:"))
        visit.faults.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    await visit.ready();
    assert.ok(!page.url().includes("enter="), "the ticket stays in the address");
    return visit;
  }

  async ready() {
    await this.page.waitForSelector("main [data-ready]");
  }

  async go(hash) {
    await this.page.evaluate((wanted) => {
      location.hash = wanted;
    }, hash);
    await this.page.waitForFunction(
      (wanted) => location.hash === wanted && document.querySelector("main [data-ready]"),
      hash,
    );
    await this.ready();
  }

  /** Takes a picture and looks for what keeps people out. */
  async look(screen) {
    const { page } = this;
    await page.screenshot({ path: `${this.name}-${screen}.png` });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) this.faults.push(`${screen}: ${wide} px wider than the window`);
    await page.evaluate(axeSource);
    const report = await page.evaluate(() =>
      window.axe.run(document, { resultTypes: ["violations"] }),
    );
    for (const fault of report.violations) {
      const where = fault.nodes
        .slice(0, 3)
        .map((node) => `${node.target.join(" ")} (${node.any[0]?.message ?? ""})`)
        .join("; ");
      const line = `${screen}: ${fault.impact} ${fault.id}: ${where}`;
      if (fault.impact === "serious" || fault.impact === "critical") this.faults.push(line);
      else console.log(`  minor, ${this.name}: ${line}`);
    }
  }

  async end() {
    this.faults.push(
      ...(await this.page.evaluate(() => window.violations)).map((what) => `CSP: ${what}`),
    );
    await this.context.close();
    this.child.kill("SIGTERM");
    assert.deepEqual(this.faults, [], this.name);
    console.log(`  ${this.name}: well`);
  }
}

async function find(visit, cue) {
  const { page } = visit;
  await visit.go("#/search");
  await page.fill("#cue", cue);
  await page.press("#cue", "Enter");
  await page.waitForSelector(".hit-words, .results .count");
  await page.waitForFunction(() => !document.querySelector(".results[aria-busy]"));
}

async function screens(visit) {
  const { page } = visit;
  await page.waitForSelector(".session");
  await page.getByRole("heading", { name: "Decided" }).waitFor();
  await visit.look("home");
  await find(visit, CUE);
  await page.waitForSelector(".hit-words");
  await page.locator(".why summary").first().click();
  await page.waitForSelector(".why[open] table .sum");
  await visit.look("search");
  await page.locator(".hit-words").first().click();
  await page.waitForSelector("article.words");
  await visit.look("memory");
  await page.getByRole("link", { name: "The whole conversation" }).click();
  await page.waitForSelector(".turn.meant");
  await visit.look("session");
  await visit.go("#/timeline");
  await page.waitForSelector(".day .session");
  assert.ok((await page.locator(".months span").count()) >= 10, "the year has its months");
  await visit.look("timeline");
  await page.locator(".cell[data-day]").last().click();
  await page.waitForFunction(() => location.hash.includes("until="));
  await page.waitForSelector(".day .session");
  await visit.go("#/map");
  await page.waitForSelector(".topic-item");
  await visit.look("map");
  await page.getByRole("button", { name: "Closer" }).click();
  await page.locator(".topic-item").first().click();
  await page.waitForSelector(".panel .glimpse");
  await visit.look("topic");
  await visit.go("#/health");
  await page.waitForSelector(".card");
  await visit.look("health");
}

/** Pins, corrects and forgets as a person does. */
async function deeds(visit) {
  const { page } = visit;
  await find(visit, "moisture sensor of the tomato bed");
  await page.locator(".hit-words").first().click();
  await page.getByRole("button", { name: "Pin" }).click();
  await page.getByRole("button", { name: "Unpin" }).waitFor();
  await page.getByRole("button", { name: "Correct" }).click();
  await page.fill(
    "#correction",
    "The moisture sensor of the tomato bed was exchanged; <b>wet</b> soil reads 71 percent.",
  );
  await visit.look("correct");
  await page.getByRole("button", { name: "Keep the correction" }).click();
  await page.waitForSelector(".replaces");
  const words = await page.locator("article.words").innerText();
  assert.ok(words.includes("<b>wet</b>"), "words must stay words");
  assert.equal(await page.locator("article.words b").count(), 0, "words became markup");
  // What holds now is what stays in sight.
  await page.getByRole("button", { name: "Unpin" }).waitFor();
  await visit.look("corrected");
  await page.locator(".replaces .glimpse").click();
  await page.waitForSelector(".replaced");
  await visit.look("replaced");
  await page.goBack();
  await page.waitForSelector(".replaces");
  await page.getByRole("button", { name: "Forget" }).click();
  await page.waitForSelector("dialog .going li");
  await visit.look("forget");
  await page.getByRole("button", { name: /^Forget 1 memory for good/ }).click();
  await page.waitForSelector(".toast.shown");
  await page.waitForFunction(() =>
    document.querySelector(".toast").textContent.startsWith("Forgotten"),
  );
  await find(visit, "moisture sensor exchanged wet soil");
  const hits = await page.locator(".hit-words").allInnerTexts();
  assert.ok(!hits.some((hit) => hit.includes("was exchanged")), "what was forgotten is found");
  await page.locator(".hit-words").first().click();
  await page.getByRole("button", { name: "Pin" }).click();
  await page.getByRole("button", { name: "Unpin" }).waitFor();
  await visit.go("#/search");
  await page.fill("#cue", "");
  await page.getByRole("heading", { name: "Pinned" }).waitFor();
}

/** Drops a file somewhere on the page, as a file manager does. */
async function drop(page, name, words) {
  await page.evaluate(
    ([called, text]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], called));
      for (const kind of ["dragover", "drop"])
        document.body.dispatchEvent(
          new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }),
        );
    },
    [name, words],
  );
}

const HANDBOOK =
  "# Lighthouse handbook\n\n## Lamp\n\nThe lamp of the lighthouse is cleaned every second " +
  "Thursday with distilled water.\n\n## Fog\n\nIn thick fog the horn sounds twice a minute " +
  "until the pilot answers.\n";

/** Teaches a file, finds it, and takes it back. */
async function lessons(visit) {
  const { page } = visit;
  await visit.go("#/search");
  await drop(page, "handbook.md", HANDBOOK);
  await page.waitForFunction(() => location.hash === "#/teach");
  await page.getByText("2 passages of handbook.md, 2 found again.").waitFor();
  await page.setInputFiles("input[type=file]", {
    name: "photo.png",
    mimeType: "image/png",
    buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]),
  });
  await page.getByText(/photo\.png was not taught: it is no text/).waitFor();
  await page.getByRole("button", { name: "Remove handbook" }).waitFor();
  await visit.look("teach");
  await drop(page, "handbook.md", HANDBOOK);
  await page.getByText("handbook.md is known already").waitFor();
  await drop(page, "handbook.md", HANDBOOK.replace("second", "third"));
  await page.getByRole("heading", { name: "Replace handbook.md?" }).waitFor();
  await visit.look("replace");
  await page.getByRole("button", { name: "Leave it" }).click();
  await page.getByText("handbook.md was left as it was").waitFor();
  await page.getByRole("link", { name: "handbook.md" }).click();
  await page.getByRole("heading", { name: "handbook.md" }).waitFor();
  await visit.ready();
  await visit.look("taught-file");
  await find(visit, "how often is the lamp of the lighthouse cleaned");
  await page.locator(".hit-words", { hasText: "distilled water" }).first().click();
  await page.getByText("Taught from").waitFor();
  await visit.look("taught-memory");
  await visit.go("#/teach");
  await page.getByRole("button", { name: "Remove handbook" }).click();
  await page.getByRole("button", { name: /^Forget 2 memories for good/ }).click();
  await page.getByText("Nothing was taught yet.").waitFor();
  await find(visit, "how often is the lamp of the lighthouse cleaned");
  const hits = await page.locator(".hit-words").allInnerTexts();
  assert.ok(!hits.some((hit) => hit.includes("distilled")), "what was removed is found");
}

/** Zooms and pans on the map and prints how smooth it was, and how long every request took. */
async function pace(visit) {
  const { page } = visit;
  await find(visit, CUE);
  await page.locator(".hit-words").first().click();
  await page.waitForSelector("article.words");
  await visit.go("#/timeline");
  await page.locator(".day .session").first().click();
  await page.waitForSelector(".turn");
  await visit.go("#/health");
  await page.waitForSelector(".card");
  const begun = Date.now();
  await visit.go("#/map");
  const opened = Date.now() - begun;
  const told = (await page.locator("canvas").count()) ? await page.evaluate(walk) : null;
  await visit.look("map");
  const requests = await page.evaluate(() => {
    const times = {};
    for (const one of performance.getEntriesByType("resource")) {
      const method = one.name.match(/api\/(\w+)/)?.[1];
      if (method) (times[method] ??= []).push(one.duration);
    }
    return Object.entries(times).map(([method, all]) => [method, all.length, Math.max(...all)]);
  });
  console.log(`  ${visit.name}: the map opens in ${opened} ms; ${told ?? "it has no topics"}`);
  for (const [method, n, most] of requests)
    console.log(`    ${method}: ${n} requests, the slowest ${most.toFixed(0)} ms`);
}

/** In the page: from the whole map into its middle and out again, then across it. */
async function walk() {
  const canvas = document.querySelector("canvas");
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const at = (x, y) => ({ clientX: left + x, clientY: top + y, bubbles: true, cancelable: true });
  const wheel = (deltaY) =>
    canvas.dispatchEvent(new WheelEvent("wheel", { ...at(width / 2, height / 2), deltaY }));
  const pointer = (kind, x) =>
    canvas.dispatchEvent(new PointerEvent(kind, { ...at(x, height / 2), pointerId: 1 }));
  canvas.setPointerCapture = () => {};
  const frames = [];
  const over = async (n, act) => {
    let before = performance.now();
    for (let step = 0; step < n; step += 1) {
      act(step);
      // What is painted in a frame is done when the task behind it runs.
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      frames.push(performance.now() - before);
      before = performance.now();
    }
  };
  await over(60, () => wheel(-60));
  await over(60, () => wheel(60));
  await over(20, () => wheel(-60));
  pointer("pointerdown", width / 2);
  await over(60, (step) => pointer("pointermove", width / 2 + 3 * step - 90));
  pointer("pointerup", width / 2 + 90);
  frames.sort((a, b) => a - b);
  const middle = frames[frames.length >> 1].toFixed(1);
  return `${frames.length} frames, median ${middle} ms, worst ${frames.at(-1).toFixed(1)} ms`;
}

/** The same with no mouse. */
async function keys(visit) {
  const { page } = visit;
  const press = (...all) =>
    all.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  await press("Escape", "2");
  await page.waitForSelector(".day .session");
  await press("j", "j", "k", "Enter");
  await page.waitForSelector(".turn");
  await press("j", "Enter");
  await page.waitForSelector("article.words");
  const before = page.url();
  await press("n");
  await page.waitForFunction((url) => location.href !== url, before);
  await visit.ready();
  await press("p");
  await page.getByRole("button", { name: "Unpin" }).waitFor();
  await press("p");
  await page.getByRole("button", { name: "Pin", exact: true }).waitFor();
  await press("c");
  await page.waitForSelector("#correction:focus");
  await press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  await press("c");
  await page.waitForSelector("#correction:focus");
  await page.keyboard.type("The gull of the keyboard sits on the mast.");
  await press("Control+Enter");
  await page.waitForSelector(".replaces");
  await press("f");
  await page.waitForSelector("dialog .going");
  await press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  await press("f");
  await reach(page, /^Forget 1 memory for good/);
  await press("Enter");
  await page.getByText(/^Forgotten/).waitFor();
  await press("/");
  await page.waitForSelector("#cue:focus");
  await page.keyboard.type("retry policy");
  await page.waitForSelector(".hit-words");
  await press("ArrowDown", "ArrowDown", "Enter");
  await page.waitForSelector("article.words");
  await press("Escape");
  await page.waitForSelector(".hit-words");
  await press("3");
  await page.waitForSelector(".topic-item");
  await press("j", "Enter");
  await page.waitForSelector(".panel .glimpse");
  await press("4");
  await page.waitForSelector(".drop");
  await visit.ready();
  const handbook = { name: "kelp.md", mimeType: "text/markdown", buffer: Buffer.from(HANDBOOK) };
  await (await chooserBy(page, () => press("o"))).setFiles(handbook);
  await page.getByText("2 passages of kelp.md, 2 found again.").waitFor();
  await reach(page, /^Remove kelp/);
  await press("Enter");
  await reach(page, /^Forget 2 memories for good/);
  await press("Enter");
  await page.getByText("Nothing was taught yet.").waitFor();
  await press("5");
  await page.waitForSelector(".card");
  await press("?");
  await page.waitForSelector("dialog .keys");
  await visit.look("help");
  await press("Escape");
  await press("d");
  assert.ok(
    ["dark", "light"].includes(await page.evaluate(() => document.documentElement.dataset.theme)),
  );
}

/** Goes to a button by the tabulator key alone. */
async function reach(page, name) {
  const button = page.getByRole("button", { name });
  await button.waitFor();
  for (let step = 0; step < 60; step += 1) {
    if (await button.evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the tabulator key never reaches ${name}`);
}

/** Returns the dialog that an act opens. A browser under load may drop the first one. */
async function chooserBy(page, act) {
  for (let attempt = 1; ; attempt += 1) {
    const chooser = page.waitForEvent("filechooser", { timeout: 5000 });
    await act();
    try {
      return await chooser;
    } catch (error) {
      if (attempt === 4) throw error;
    }
  }
}

/** Without a daemon the page says so, reads, refuses to write, and recovers by itself. */
async function outage(visit) {
  const { page } = visit;
  await find(visit, CUE);
  run("daemon", "stop");
  await page.locator(".hit-words").first().click();
  await page.waitForSelector("article.words");
  await page.waitForSelector(".notice:not([hidden])");
  await visit.look("no-daemon");
  await page.getByRole("button", { name: "Pin" }).click();
  await page.waitForFunction(() =>
    document.querySelector(".toast.shown")?.textContent.includes("daemon is not running"),
  );
  await visit.go("#/health");
  await page.getByText("Not running", { exact: true }).waitFor();
  await visit.look("health-no-daemon");
  run("daemon", "start");
  await page.waitForSelector(".notice[hidden]", { state: "attached" });
  await page.getByText("Running", { exact: true }).waitFor();
}

/** With the page's program gone, the page says so. */
async function ended(visit) {
  visit.isOver = true;
  visit.child.kill("SIGTERM");
  await new Promise((done) => visit.child.once("exit", done));
  await visit.page.waitForFunction(() =>
    document.querySelector(".notice")?.textContent.includes("has ended"),
  );
}

/** What a newcomer meets. */
async function newcomer(visit) {
  await details.home(visit);
  await details.nothingFits(visit, find);
  await details.map(visit);
  await details.upTo(visit);
  await details.back(visit, find);
}

const profile = mkdtempSync(join(tmpdir(), "iai-page-"));
const browser = await chromium.launch({
  executablePath: pathOf(browserName),
  args: FLAGS,
  headless: true,
  env: { ...process.env, HOME: profile },
});
try {
  details.changeAMind(run);
  console.log(`The page in ${browserName} ${browser.version()}, ${nMemories} memories:`);
  for (const [name, options, ...acts] of [
    ["wide-light", { colorScheme: "light" }, screens, deeds, lessons],
    ["wide-dark", { colorScheme: "dark" }, screens],
    ["narrow-light", { colorScheme: "light", viewport: NARROW, hasTouch: true }, screens, lessons],
    ["narrow-dark", { colorScheme: "dark", viewport: NARROW, hasTouch: true }, screens],
    ["keys", { colorScheme: "light" }, keys],
    ["pace-wide", { colorScheme: "light" }, pace],
    ["pace-narrow", { colorScheme: "light", viewport: NARROW, hasTouch: true }, pace],
    ["newcomer-wide", { colorScheme: "light" }, newcomer, (visit) => details.markdown(visit, find)],
    ["newcomer-narrow", { colorScheme: "dark", viewport: NARROW, hasTouch: true }, newcomer],
    ["asleep", { colorScheme: "light" }, (visit) => details.asleep(visit, run, drop)],
    ["outage", { colorScheme: "light" }, outage, ended],
  ]) {
    if (only.length && !only.includes(name)) continue;
    const visit = await Visit.open(browser, name, options);
    try {
      for (const act of acts) await act(visit);
    } catch (error) {
      await visit.page.screenshot({ path: `${name}-failed.png` });
      throw new Error(
        [`${name}, ${visit.page.url().replace(/.*#/, "#")}: ${error.message}`, ...visit.faults].join("\n"),
        { cause: error },
      );
    }
    await visit.end();
  }
} finally {
  await browser.close();
  for (const child of started) child.kill("SIGTERM");
  rmSync(profile, { recursive: true, force: true });
}

function pathOf(name) {
  return spawnSync("sh", ["-c", 'command -v "$1"', "sh", name], {
    encoding: "utf8",
  }).stdout.trim();
}
