// Trying a run anew from one of its tasks on.
import { createContext } from "preact";

/** Does it; null while the run goes on, and where it is not offered. */
export const RetryFrom = createContext<((task: number) => void) | null>(null);
