// The canvas of the map: where it looks, who points at it, and what is drawn.

import { ask } from "./ask.js";
import { h, number, shortProject } from "./elements.js";
import { seed } from "./packing.js";

const MEMBERS_PAGE = 100;
/** Dots drawn in one cluster at most; a finger cannot point at more. */
const DOTS_MAX = 1500;
/** From this size on the screen a cluster shows its members. */
const CLOSE_PX = 110;
const LABEL_PX = 26;
/** A smaller project is told by its colour alone. */
const GROUP_LABEL_PX = 45;
/** The size at which words are measured. */
const MEASURE_PX = 20;
const ZOOM_MAX = 400;
const GLIDE_MS = 350;

/** The canvas, where it looks, and who points at it. */
export class Picture {
  constructor(canvas, tip, chart, signal, acts) {
    Object.assign(this, { canvas, tip, chart, signal, acts });
    this.context = canvas.getContext("2d");
    this.look = { x: 0, y: 0, scale: 1 };
    this.pointers = new Map();
    this.widths = new Map();
    this.isDue = false;
  }

  start() {
    const canvas = this.canvas;
    const on = (name, act, options = {}) =>
      canvas.addEventListener(name, act, { ...options, signal: this.signal });
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
    this.whole(false);
    on(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * 0.0015));
      },
      { passive: false },
    );
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) on(name, (event) => this.release(event));
    on("pointerleave", () => {
      this.tip.hidden = true;
    });
    on("keydown", (event) => this.key(event));
    const colours = () => {
      this.colours = null;
      this.draw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colours, {
      signal: this.signal,
    });
    document.addEventListener("themechange", colours, { signal: this.signal });
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    Object.assign(this, { width, height, ratio });
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    if (this.isWhole) this.whole(false);
    this.draw();
  }

  get fit() {
    return (0.47 * Math.min(this.width, this.height)) / this.chart.radius;
  }

  whole(isGliding) {
    this.isWhole = true;
    this.glide({ x: 0, y: 0, scale: this.fit }, isGliding);
  }

  closeUp(topic) {
    this.isWhole = false;
    this.glide(
      { x: topic.x, y: topic.y, scale: (0.42 * Math.min(this.width, this.height)) / topic.r },
      true,
    );
  }

  zoomBy(factor) {
    this.zoomAt(this.width / 2, this.height / 2, factor);
  }

  zoomAt(px, py, factor) {
    this.isWhole = false;
    this.tip.hidden = true;
    const { x, y, scale } = this.look;
    const next = Math.max(this.fit * 0.5, Math.min(this.fit * ZOOM_MAX, scale * factor));
    const [wx, wy] = [x + (px - this.width / 2) / scale, y + (py - this.height / 2) / scale];
    this.look = {
      x: wx - (px - this.width / 2) / next,
      y: wy - (py - this.height / 2) / next,
      scale: next,
    };
    this.draw();
  }

  glide(to, isWanted) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!isWanted || calm) {
      this.look = to;
      return this.draw();
    }
    const [from, begun] = [this.look, performance.now()];
    const step = (now) => {
      const share = Math.min(1, (now - begun) / GLIDE_MS);
      const eased = 1 - (1 - share) ** 3;
      const mix = (a, b) => a + (b - a) * eased;
      this.look = {
        x: mix(from.x, to.x),
        y: mix(from.y, to.y),
        scale: from.scale * (to.scale / from.scale) ** eased,
      };
      this.draw();
      if (share < 1 && !this.signal.aborted) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.moved = 0;
  }

  move(event) {
    const held = this.pointers.get(event.pointerId);
    if (!held) return this.point(event);
    const [dx, dy] = [event.offsetX - held.x, event.offsetY - held.y];
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (others.length) {
      const [, other] = others[0];
      const before = Math.hypot(held.x - other.x, held.y - other.y);
      const after = Math.hypot(event.offsetX - other.x, event.offsetY - other.y);
      this.zoomAt(
        (event.offsetX + other.x) / 2,
        (event.offsetY + other.y) / 2,
        after / Math.max(before, 1),
      );
    } else {
      this.isWhole = false;
      this.tip.hidden = true;
      this.look.x -= dx / this.look.scale;
      this.look.y -= dy / this.look.scale;
      this.draw();
    }
    Object.assign(held, { x: event.offsetX, y: event.offsetY });
  }

  release(event) {
    if (
      !this.pointers.delete(event.pointerId) ||
      event.type === "pointercancel" ||
      this.moved > 6
    )
      return;
    const { topic, member } = this.under(event.offsetX, event.offsetY);
    if (member) this.acts.openMemory(member.record_id);
    else if (topic) this.acts.openTopic(topic);
  }

  key(event) {
    const step = 40 / this.look.scale;
    const act = {
      "+": () => this.zoomBy(1.4),
      "=": () => this.zoomBy(1.4),
      "-": () => this.zoomBy(1 / 1.4),
      0: () => this.whole(true),
      Enter: () => {
        const { topic, member } = this.under(this.width / 2, this.height / 2);
        if (member) this.acts.openMemory(member.record_id);
        else if (topic) this.acts.openTopic(topic);
      },
      ArrowLeft: () => {
        this.look.x -= step;
      },
      ArrowRight: () => {
        this.look.x += step;
      },
      ArrowUp: () => {
        this.look.y -= step;
      },
      ArrowDown: () => {
        this.look.y += step;
      },
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
    this.draw();
  }

  point(event) {
    const { topic, member } = this.under(event.offsetX, event.offsetY);
    this.tip.hidden = !topic;
    this.canvas.classList.toggle("pointing", Boolean(topic));
    if (!topic) return;
    this.tip.textContent = member
      ? member.first_words
      : `${topic.name} · ${number(topic.n_members)}`;
    this.tip.style.setProperty(
      "left",
      `${Math.min(event.offsetX + 14, Math.max(0, this.width - 260))}px`,
    );
    this.tip.style.setProperty("top", `${event.offsetY + 14}px`);
  }

  under(px, py) {
    const { x, y, scale } = this.look;
    const [wx, wy] = [x + (px - this.width / 2) / scale, y + (py - this.height / 2) / scale];
    const topic = this.chart.topics.find((one) => Math.hypot(wx - one.x, wy - one.y) <= one.r);
    if (!topic) return {};
    const n = Math.min(topic.n_members, DOTS_MAX);
    const reach = Math.max(topic.r / Math.sqrt(n), 7 / scale);
    let best = { far: reach };
    for (const [place, member] of topic.members.slice(0, n).entries()) {
      const [sx, sy] = seed(place, n);
      const far = Math.hypot(wx - topic.x - sx * topic.r, wy - topic.y - sy * topic.r);
      if (far < best.far) best = { far, member };
    }
    return { topic, member: topic.r * scale >= CLOSE_PX ? best.member : undefined };
  }

  /** Fetches the next members of a topic; what is there already is kept. */
  async load(topic, signal) {
    const last = topic.members.at(-1);
    const before = last ? { before: last.record_id } : {};
    const told = await ask(
      "picture_members",
      { topic: topic.number, limit: MEMBERS_PAGE, ...before },
      signal,
    );
    topic.members.push(...told.members);
    topic.hasMore = told.has_more;
    this.draw();
    return told;
  }

  /** The middle of the picture stays on the chart, so that nobody pushes it out of sight. */
  keepInSight() {
    const far = Math.hypot(this.look.x, this.look.y) / this.chart.radius;
    if (far > 1) {
      this.look.x /= far;
      this.look.y /= far;
    }
  }

  draw() {
    this.keepInSight();
    // A finger scrolls the page while there is nothing of the chart to be moved.
    this.canvas.classList.toggle("close", !this.isWhole);
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      if (!this.signal.aborted) this.paint();
    });
  }

  paint() {
    const { context, look, width, height, ratio } = this;
    this.colours ??= readColours(this.canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const at = (x, y) => [
      (x - look.x) * look.scale + width / 2,
      (y - look.y) * look.scale + height / 2,
    ];
    const labels = [];
    for (const topic of this.chart.topics) {
      const [px, py] = at(topic.x, topic.y);
      const r = topic.r * look.scale;
      if (px + r < 0 || py + r < 0 || px - r > width || py - r > height) continue;
      this.paintTopic(topic, px, py, r);
      if (r > LABEL_PX && r < Math.min(width, height))
        labels.push([topic, px, py, r]);
    }
    for (const group of this.chart.groups) this.paintGroup(group, at);
    for (const label of labels) this.paintLabel(...label);
  }

  paintGroup(group, at) {
    const { context, look, colours } = this;
    const [px, py] = at(group.x, group.y);
    const r = group.r * look.scale;
    if (this.chart.groups.length < 2) return;
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(px, py, r, 0, Math.PI * 2);
    context.stroke();
    if (r < GROUP_LABEL_PX || !group.key || r > 3 * Math.max(this.width, this.height)) return;
    context.font = `600 12px ${colours.font}`;
    context.textAlign = "center";
    context.lineWidth = 5;
    context.lineJoin = "round";
    context.strokeStyle = colours.paper;
    // Where the top of the circle is just out of sight, its name is not.
    const top = py - r > -LABEL_PX * 2 ? Math.max(py - r + 4, 16) : py - r + 4;
    context.strokeText(shortProject(group.key), px, top);
    context.fillStyle = colours.muted;
    context.fillText(shortProject(group.key), px, top);
  }

  paintTopic(topic, px, py, r) {
    const { context, colours } = this;
    const hue = colours.hues[topic.hue];
    context.beginPath();
    context.arc(px, py, Math.max(r, 1.5), 0, Math.PI * 2);
    context.globalAlpha = 0.16;
    context.fillStyle = hue;
    context.fill();
    context.globalAlpha = 0.7;
    context.strokeStyle = hue;
    context.lineWidth = 1.2;
    context.stroke();
    if (r >= CLOSE_PX) this.paintMembers(topic, px, py, r, hue);
    context.globalAlpha = 1;
  }

  paintMembers(topic, px, py, r, hue) {
    const { context } = this;
    if (!topic.members.length && !topic.isLoading) {
      topic.isLoading = true;
      this.load(topic, this.signal).catch(() => {
        topic.isLoading = false;
      });
    }
    const n = Math.min(topic.n_members, DOTS_MAX);
    const size = Math.max(1.2, Math.min(7, (0.42 * r) / Math.sqrt(n)));
    context.fillStyle = hue;
    topic.seeds ??= Array.from({ length: n }, (_, place) => seed(place, n));
    const nLoaded = Math.min(n, topic.members.length);
    for (const [alpha, from, to] of [
      [0.85, 0, nLoaded],
      [0.25, nLoaded, n],
    ]) {
      context.globalAlpha = alpha;
      // One path for all of them: each fill costs more than its dot.
      context.beginPath();
      for (const [sx, sy] of topic.seeds.slice(from, to)) {
        const x = px + sx * r;
        const y = py + sy * r;
        if (x < -9 || y < -9 || x > this.width + 9 || y > this.height + 9) continue;
        context.moveTo(x + size, y);
        context.arc(x, y, size, 0, Math.PI * 2);
      }
      context.fill();
    }
  }

  /** How wide words are at a size of 1; measuring them in every frame would take most of it. */
  widthOf(words, isBold) {
    const key = `${isBold}${words}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      this.context.font = `${isBold ? 600 : 500} ${MEASURE_PX}px ${this.colours.font}`;
      width = this.context.measureText(words).width / MEASURE_PX;
      this.widths.set(key, width);
    }
    return width;
  }

  paintLabel(topic, px, py, r) {
    const { context, colours } = this;
    const isClose = r >= CLOSE_PX;
    const size = Math.max(11, Math.min(15, r / 3.4));
    const measure = (words) => this.widthOf(words, isClose) * size;
    const lines = wrap(measure, topic.name, isClose ? 2 * r : 1.7 * r, isClose ? 1 : 3);
    // Half a name at the edge says less than none.
    const half = Math.max(...lines.map(measure)) / 2;
    if (px < half || px > this.width - half) return;
    context.font = `${isClose ? 600 : 500} ${size}px ${colours.font}`;
    context.textAlign = "center";
    const top = isClose
      ? py - r + size * 1.6
      : py - ((lines.length - 1) * size * 1.15) / 2 + size / 3;
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = colours.paper;
    context.fillStyle = colours.ink;
    for (const [place, line] of lines.entries()) {
      if (isClose) context.strokeText(line, px, top + place * size * 1.15);
      context.fillText(line, px, top + place * size * 1.15);
    }
  }
}

/** Breaks a label into lines that fit; what does not fit ends with an ellipsis. */
function wrap(measure, text, width, linesMax) {
  const lines = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    const longer = line ? `${line} ${word}` : word;
    if (measure(longer) <= width || !line) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  lines.push(line);
  const shown = lines.slice(0, linesMax).map((one) => clip(measure, one, width));
  if (lines.length > linesMax)
    shown[linesMax - 1] = clip(measure, `${shown[linesMax - 1]}…`, width);
  return shown;
}

function clip(measure, line, width) {
  let cut = line;
  while (cut.length > 2 && measure(cut) > width) cut = `${cut.slice(0, -2)}…`;
  return cut;
}

/** Returns the colours as they are now: a canvas knows neither variables nor themes. */
function readColours(canvas) {
  const probe = h("span", {});
  canvas.parentElement.append(probe);
  const read = (name) => {
    probe.style.setProperty("color", `var(${name})`);
    return getComputedStyle(probe).color;
  };
  const colours = {
    paper: read("--raised"),
    ink: read("--ink"),
    muted: read("--muted"),
    line: read("--line"),
    font: getComputedStyle(canvas).fontFamily,
    hues: [0, 1, 2, 3, 4, 5].map((n) => read(`--hue${n}`)),
  };
  probe.remove();
  return colours;
}
