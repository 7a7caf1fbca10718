// Places circles beside each other without an overlap. The same circles always lie the same way.

const GAP = 0.06;
const TURN = Math.PI * (3 - Math.sqrt(5));

/** Gives every circle `{r}` an `x` and a `y`, with 0 in the middle of all; returns their radius. */
export function pack(circles) {
  if (!circles.length) return 0;
  const placed = [];
  const largestFirst = [...circles].sort((a, b) => b.r - a.r || (a.key < b.key ? -1 : 1));
  for (const circle of largestFirst) {
    place(circle, placed);
    placed.push(circle);
  }
  return centre(placed);
}

/** Moves all circles so that the smallest circle around them, nearly, is around 0. */
function centre(placed) {
  const middle = { x: 0, y: 0 };
  const far = (circle) => Math.hypot(circle.x - middle.x, circle.y - middle.y) + circle.r;
  const furthest = () =>
    placed.reduce((most, circle) => (far(circle) > far(most) ? circle : most), placed[0]);
  // Steps towards whatever sticks out most, each smaller than the one before.
  for (let step = far(furthest()) / 2; step > far(furthest()) / 1000; step *= 0.94) {
    const out = furthest();
    const away = Math.hypot(out.x - middle.x, out.y - middle.y) || 1;
    middle.x += ((out.x - middle.x) / away) * step;
    middle.y += ((out.y - middle.y) / away) * step;
  }
  for (const circle of placed)
    Object.assign(circle, { x: circle.x - middle.x, y: circle.y - middle.y });
  return Math.max(...placed.map((circle) => Math.hypot(circle.x, circle.y) + circle.r));
}

/** Puts a circle at the free place nearest to the middle, touching two others where it can. */
function place(circle, placed) {
  if (!placed.length) return Object.assign(circle, { x: 0, y: 0 });
  let best = null;
  const offer = (x, y) => {
    const far = x * x + y * y;
    if ((!best || far < best.far) && isFree(x, y, circle.r, placed)) best = { x, y, far };
  };
  const near = placed.slice(-40);
  for (const [index, one] of near.entries()) {
    for (const other of near.slice(index + 1))
      touching(one, other, circle.r).forEach(([x, y]) => offer(x, y));
    for (let step = 0; step < 12; step += 1) {
      const far = one.r + circle.r * (1 + GAP) + one.r * GAP;
      offer(
        one.x + far * Math.cos((step * Math.PI) / 6),
        one.y + far * Math.sin((step * Math.PI) / 6),
      );
    }
  }
  Object.assign(circle, best ? { x: best.x, y: best.y } : outside(circle, placed));
}

/** Returns the two places at which a circle of radius `r` touches both others. */
function touching(one, other, r) {
  const gap = GAP * Math.min(r, one.r, other.r);
  const [a, b] = [one.r + r + gap, other.r + r + gap];
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const far = Math.hypot(dx, dy);
  if (far > a + b || far === 0) return [];
  const along = (a * a - b * b + far * far) / (2 * far);
  const across = Math.sqrt(Math.max(0, a * a - along * along));
  const [mx, my] = [one.x + (along * dx) / far, one.y + (along * dy) / far];
  return [
    [mx + (across * dy) / far, my - (across * dx) / far],
    [mx - (across * dy) / far, my + (across * dx) / far],
  ];
}

function isFree(x, y, r, placed) {
  // What was placed last lies nearest to where the next is tried.
  for (let index = placed.length - 1; index >= 0; index -= 1) {
    const other = placed[index];
    const needed = r + other.r;
    const dx = x - other.x;
    const dy = y - other.y;
    if (dx * dx + dy * dy < needed * needed * 0.9999) return false;
  }
  return true;
}

function outside(circle, placed) {
  const edge = Math.max(...placed.map((other) => Math.hypot(other.x, other.y) + other.r));
  const angle = placed.length * TURN;
  const far = edge + circle.r * (1 + GAP);
  return { x: far * Math.cos(angle), y: far * Math.sin(angle) };
}

/** Returns where member `n` of `total` lies in a circle of radius 1: like seeds in a flower. */
export function seed(n, total) {
  const far = Math.sqrt((n + 0.5) / Math.max(total, 1)) * 0.9;
  return [far * Math.cos(n * TURN), far * Math.sin(n * TURN)];
}
