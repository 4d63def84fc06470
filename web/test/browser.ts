// A headless Chromium for the tests. A page made here fails its test on any console error, refusal by the content policy,
// uncaught exception, or request that leaves the origin.
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import assert from "node:assert/strict";

export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"],
  });
}

export interface Watched {
  page: Page;
  context: BrowserContext;
  /** Fails when something went wrong so far; `allowed` are console lines that the test provokes (such as a 401). */
  verify(allowed?: RegExp): void;
  close(): Promise<void>;
}

export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  path = "/",
): Promise<Watched> {
  const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const wrong: string[] = [];
  const origin = new URL(url).origin;
  page.on("console", (m) => (m.type() === "error" || m.type() === "warning") && wrong.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => wrong.push(`exception: ${e.stack ?? e.message}`));
  page.on("request", (r) => {
    const to = r.url();
    if (!to.startsWith(origin) && !to.startsWith("blob:") && !to.startsWith("data:"))
      wrong.push(`left the origin: ${to}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) =>
      console.error(`content policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`),
    );
  });
  await page.goto(url + path);
  return {
    page,
    context,
    verify: (allowed) =>
      assert.deepEqual(
        wrong.filter((w) => !allowed?.test(w)),
        [],
      ),
    close: () => context.close(),
  };
}
