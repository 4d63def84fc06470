// Serves the page from dist/ and everything else from a running `jarvis serve`: to work on the page without building
// the binary. Usage: `JARVIS_URL=http://127.0.0.1:8004 npm run dev`.
import { createServer, request } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { POLICY } from "./mock/server";

const target = new URL(process.env.JARVIS_URL ?? "http://127.0.0.1:8004");
const port = Number(process.env.PORT ?? 8015);
const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

createServer(async (req, res) => {
  const path = new URL(req.url ?? "/", target).pathname;
  const file = path === "/" ? "index.html" : path === "/docs" ? "docs.html" : path.slice(1);
  if (req.method === "GET" && /^[\w-]+\.(html|js|css|svg|txt)$/.test(file)) {
    const bytes = await readFile(join(process.cwd(), "dist", file)).catch(() => null);
    if (bytes) {
      res.writeHead(200, { "content-type": types[extname(file)] ?? "", "content-security-policy": POLICY });
      return void res.end(bytes);
    }
  }
  const { origin: _, ...headers } = req.headers;
  const onward = request(
    {
      host: target.hostname,
      port: target.port,
      path: req.url,
      method: req.method,
      headers: { ...headers, host: target.host },
    },
    (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
    },
  );
  onward.on("error", () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
  res.on("close", () => onward.destroy());
  req.pipe(onward);
}).listen(port, "127.0.0.1", () =>
  console.log(`The page is at http://127.0.0.1:${port}, with the server at ${target.origin}`),
);
