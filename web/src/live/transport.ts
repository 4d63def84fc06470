// How a tab reaches the hub: in a shared worker; else in the tab that holds a lock; else in the tab itself.
import { Hub, request } from "./hub";
import type { Command, Notice } from "./protocol";

export interface Transport {
  send(command: Command): void;
}

interface Listener {
  onNotice(notice: Notice): void;
  /** A new hub is in charge, which knows no subscriptions: all have to be sent again. */
  onReset(): void;
}

/** Part of the names that tabs share. Raised when the protocol changes, so that old and new tabs do not mix. */
const VERSION = 1;
const NAME = `jarvis-live-${VERSION}`;

export function connect(listener: Listener): Transport {
  return inWorker(listener) ?? inLeader(listener) ?? inTab(listener);
}

function inTab(listener: Listener): Transport {
  const hub = new Hub(request);
  return { send: (command) => hub.handle("", command, listener.onNotice) };
}

function inWorker(listener: Listener): Transport | null {
  if (typeof SharedWorker === "undefined") return null;
  let worker: SharedWorker;
  try {
    worker = new SharedWorker("/live.js", { name: NAME });
  } catch {
    return null;
  }
  let transport: Transport = { send: (command) => worker.port.postMessage(command) };
  worker.port.onmessage = ({ data }: MessageEvent<Notice>) => listener.onNotice(data);
  // The script could not be loaded.
  worker.onerror = () => {
    transport = inLeader(listener) ?? inTab(listener);
    listener.onReset();
  };
  addEventListener("pagehide", () => worker.port.postMessage("disconnect"));
  addEventListener("pageshow", (e) => e.persisted && listener.onReset());
  return { send: (command) => transport.send(command) };
}

type Message =
  | { type: "command"; from: string; command: Command | "disconnect" }
  | { type: "notice"; to: string; notice: Notice }
  | { type: "elected" };

/** The tab that holds the lock has the hub. When it is closed, the browser gives the lock to the next tab. */
function inLeader(listener: Listener): Transport | null {
  // Locks need a secure context; over plain HTTP from another machine there are none.
  if (!("locks" in navigator) || typeof BroadcastChannel === "undefined") return null;
  const channel = new BroadcastChannel(NAME);
  const me = crypto.randomUUID();
  const post = (message: Message) => channel.postMessage(message);
  let hub: Hub | null = null;
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === "elected") listener.onReset();
    else if (data.type === "notice") data.to === me && listener.onNotice(data.notice);
    else if (data.command === "disconnect") hub?.disconnect(data.from);
    else hub?.handle(data.from, data.command, (notice) => post({ type: "notice", to: data.from, notice }));
  };
  const lead = () => {
    hub = new Hub(request);
    post({ type: "elected" });
    listener.onReset();
    // The lock is held for as long as this promise is pending.
    return new Promise<never>(() => undefined);
  };
  void navigator.locks.request(NAME, lead).catch(() => undefined);
  addEventListener("pagehide", () => post({ type: "command", from: me, command: "disconnect" }));
  addEventListener("pageshow", (e) => e.persisted && listener.onReset());
  return {
    send: (command) => {
      if (hub) hub.handle(me, command, listener.onNotice);
      else post({ type: "command", from: me, command });
    },
  };
}
