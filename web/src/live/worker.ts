// The shared worker of all tabs: it holds the hub, and outlives each of them.
import { Hub, request } from "./hub";
import type { Command } from "./protocol";

const hub = new Hub(request);
let tabs = 0;

addEventListener("connect", (event) => {
  const port = (event as MessageEvent).ports[0];
  if (!port) return;
  const tab = String(tabs++);
  port.onmessage = ({ data }: MessageEvent<Command | "disconnect">) =>
    data === "disconnect" ? hub.disconnect(tab) : hub.handle(tab, data, (notice) => port.postMessage(notice));
});
