// How a tab reaches the hub: in a shared worker; else in the one tab that holds a lock; else in the tab itself.
import { ask, Hub } from "./hub";
import type { Ask, Reply } from "./protocol";

export interface Line {
  say(ask: Ask): void;
}

interface Ear {
  hear(reply: Reply): void;
  /** Another hub is in charge, which knows of nothing: all that is followed has to be asked for anew. */
  anew(): void;
}

/** Part of the names that tabs of one version of the page share. Raised when what they say to each other changes. */
const VERSION = 1;
const NAME = `jarvis-live-${VERSION}`;

export function connect(ear: Ear): Line {
  return shared(ear) ?? led(ear) ?? alone(ear);
}

/** A hub for this tab alone. */
function alone(ear: Ear): Line {
  const hub = new Hub(ask);
  return { say: (what) => hub.hear("", what, ear.hear) };
}

function shared(ear: Ear): Line | null {
  if (typeof SharedWorker === "undefined") return null;
  let worker: SharedWorker;
  try {
    worker = new SharedWorker("/live.js", { name: NAME });
  } catch {
    return null;
  }
  let line: Line = { say: (what) => worker.port.postMessage(what) };
  worker.port.onmessage = (message: MessageEvent<Reply>) => ear.hear(message.data);
  worker.onerror = () => {
    // It could not be loaded.
    line = led(ear) ?? alone(ear);
    ear.anew();
  };
  addEventListener("pagehide", () => worker.port.postMessage("bye"));
  addEventListener("pageshow", (e) => e.persisted && ear.anew());
  return { say: (what) => line.say(what) };
}

type Heard = { from: string; ask: Ask | "bye" } | { to: string; reply: Reply } | { led: string };

/** One tab leads: it has the lock, and the hub. The browser gives the lock to the next one when the tab is closed. */
function led(ear: Ear): Line | null {
  if (!("locks" in navigator) || typeof BroadcastChannel === "undefined") return null;
  const channel = new BroadcastChannel(NAME);
  const me = crypto.randomUUID();
  let hub: Hub | null = null;
  channel.onmessage = ({ data }: MessageEvent<Heard>) => {
    if ("led" in data) ear.anew();
    else if ("to" in data) data.to === me && ear.hear(data.reply);
    else if (data.ask === "bye") hub?.bye(data.from);
    else hub?.hear(data.from, data.ask, (reply) => channel.postMessage({ to: data.from, reply } satisfies Heard));
  };
  const lead = () => {
    hub = new Hub(ask);
    channel.postMessage({ led: me } satisfies Heard);
    ear.anew();
    return new Promise<never>(() => undefined);
  };
  void navigator.locks.request(NAME, lead).catch(() => undefined);
  addEventListener("pagehide", () => channel.postMessage({ from: me, ask: "bye" } satisfies Heard));
  addEventListener("pageshow", (e) => e.persisted && ear.anew());
  return {
    say: (what) => {
      if (hub) hub.hear(me, what, ear.hear);
      else channel.postMessage({ from: me, ask: what } satisfies Heard);
    },
  };
}
