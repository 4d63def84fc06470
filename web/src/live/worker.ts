// The shared worker of all tabs: it holds the hub, and outlives each of them.
import { ask, Hub } from "./hub";
import type { Ask } from "./protocol";

const hub = new Hub(ask);
let tabs = 0;

addEventListener("connect", (event) => {
  const port = (event as MessageEvent).ports[0];
  if (!port) return;
  const tab = String(tabs++);
  port.onmessage = (message: MessageEvent<Ask | "bye">) =>
    message.data === "bye" ? hub.bye(tab) : hub.hear(tab, message.data, (reply) => port.postMessage(reply));
});
