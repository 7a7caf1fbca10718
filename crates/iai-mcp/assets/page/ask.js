// Asks the program behind this page, and knows whether it and the daemon are there.

/** What is known about the other side: `up`, `down` (no daemon), `gone` (no program). */
export const state = { now: "up", why: "" };

/** Whoever is gone is missed within seconds; a look costs one message over a socket. */
const POLL_UP_MS = 4_000;
const POLL_DOWN_MS = 3_000;
const listeners = new Set();

/** An answer that says no, in words for a person. */
export class Refused extends Error {}

/** Calls a method of the daemon; throws `Refused` with the reason. */
export async function ask(method, params = {}, signal = undefined) {
  return heard(await post(`api/${method}`, params, signal));
}

/** Hands a file over, with what is to be known about it; throws `Refused` with the reason. */
export async function handOver(facts, bytes) {
  const body = new Blob([JSON.stringify(facts), "\n", bytes]);
  return heard(await send("api/teach", "application/octet-stream", body));
}

function heard(answer) {
  if (answer.error) {
    if (answer.error.is_down) become("down", answer.error.message);
    throw new Refused(answer.error.message);
  }
  if (answer.result.degraded) become("down", "");
  return answer.result;
}

/** Hands the ticket of the address in; true when it was good. */
export async function enter(ticket) {
  try {
    await post("api/enter", { ticket });
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

/** Tells whether this browser was let in before. */
export async function isInside() {
  try {
    await post("api/health", {});
    return true;
  } catch {
    return false;
  }
}

/** Calls `listener(now, before)` whenever the state changes, until what is returned is called. */
export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Looks how the daemon is, now and then, while somebody looks at the page. */
export function watch() {
  let timer = 0;
  const look = async () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") await health().catch(() => {});
    timer = setTimeout(look, state.now === "up" ? POLL_UP_MS : POLL_DOWN_MS);
  };
  document.addEventListener("visibilitychange", look);
  onChange(() => {
    clearTimeout(timer);
    timer = setTimeout(look, state.now === "up" ? POLL_UP_MS : POLL_DOWN_MS);
  });
  look();
}

/** Asks how everything is, and believes it. */
export async function health(signal = undefined) {
  const told = await ask("health", {}, signal);
  if (told.daemon) become("up", "");
  else become("down", told.why);
  return told;
}

function post(path, params, signal) {
  return send(path, "application/json", JSON.stringify(params), signal);
}

async function send(path, type, body, signal = undefined) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": type },
      body,
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    become("gone", "");
    throw new Refused("the program behind this page has ended; run `iai-mcp brain` again");
  }
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error?.message ?? response.statusText);
  return answer;
}

function become(now, why) {
  const before = state.now;
  state.now = now;
  state.why = why || state.why;
  if (before !== now) for (const listener of listeners) listener(now, before);
}
