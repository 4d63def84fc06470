// Where the person is, as the part of the address after `#`: a chat, the list of runs, one run, or another page.
import { signal } from "@preact/signals";

export type Route =
  { page: "chat"; id: string | null } | { page: "runs"; id: string | null } | { page: Plain; id: null };

/** The pages that show one thing. */
type Plain = "models" | "tools" | "data";
const isPlain = (page: string | undefined): page is Plain => page === "models" || page === "tools" || page === "data";

function read(): Route {
  const [page, id] = location.hash.replace(/^#\/?/, "").split("/");
  const safe = id !== undefined && /^[\w-]{1,80}$/.test(id) ? id : null;
  if (isPlain(page)) return { page, id: null };
  return page === "runs" ? { page, id: safe } : { page: "chat", id: page === "c" ? safe : null };
}

export const route = signal<Route>({ page: "chat", id: null });

export const chatLink = (id: string): string => `#/c/${id}`;
export const runLink = (id: string): string => `#/runs/${id}`;

/** Goes there; `replace` leaves no step to go back to. */
export function go(hash: string, replace = false): void {
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  route.value = read();
}

export function startRouter(): void {
  route.value = read();
  const follow = () => {
    route.value = read();
  };
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);
}
