// Times as people read them: the reader's language, the reader's days.

const DAY = 86_400_000;

/** `Sunday, 15 November 2026` in the reader's way. */
export function longDay(ts) {
  const options = { weekday: "long", year: "numeric", month: "long", day: "numeric" };
  return new Date(ts).toLocaleDateString(undefined, options);
}

/** A day and a time, always as wide and in an order that sorts: `2026-11-15 09:30`. */
export function moment(ts) {
  return `${dayKey(ts)} ${clock(ts)}`;
}

/** The time of a day. */
export function clock(ts) {
  const date = new Date(ts);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The reader's day as `2026-11-15`. */
export function dayKey(ts) {
  const date = new Date(ts);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The moment at which a day `2026-11-15` of the reader's is over. */
export function endOf(day) {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date + 1);
}

/** `3 days ago`, `today`, `yesterday`. */
export function ago(ts, now = Date.now()) {
  const days = Math.round((startOfDay(now) - startOfDay(ts)) / DAY);
  const words = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  if (Math.abs(days) < 45) return words.format(-days, "day");
  if (Math.abs(days) < 540) return words.format(-Math.round(days / 30.4), "month");
  return words.format(-Math.round(days / 365.25), "year");
}

/** `12 minutes ago`, for what happened of late. */
export function since(ts, now = Date.now()) {
  const minutes = Math.round((now - new Date(ts)) / 60_000);
  const words = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  if (minutes < 60) return words.format(-minutes, "minute");
  return minutes < 2880 ? words.format(-Math.round(minutes / 60), "hour") : ago(ts, now);
}

/** `4 min`, `3 h 05 min`. */
export function lasted(from, to) {
  const minutes = Math.round((new Date(to) - new Date(from)) / 60_000);
  if (minutes < 1) return "under a minute";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 1440)
    return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.round(minutes / 1440)} days`;
}

/** How far the reader's days begin before those of UTC, in minutes. */
export function utcOffsetMinutes() {
  return -new Date().getTimezoneOffset();
}

function two(n) {
  return String(n).padStart(2, "0");
}

function startOfDay(ts) {
  const date = new Date(ts);
  date.setHours(0, 0, 0, 0);
  return date.getTime();
}
