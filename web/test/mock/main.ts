// Serves the page with the mock server, to look at it by hand: `npm run mock`, then open the address it names.
import { join } from "node:path";
import { startMock } from "./server";

const mock = await startMock({
  dist: join(process.cwd(), "dist"),
  port: Number(process.env.PORT ?? 8014),
  pace: Number(process.env.PACE ?? 700),
  ...(process.env.TOKEN ? { token: process.env.TOKEN } : {}),
});
console.log(`The mock server is at ${mock.url}`);
