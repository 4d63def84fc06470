// What the page tests share: a fresh server and page for each test, a look for anything that went wrong, short words.
import { join } from "node:path";
import { after, before } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launch, open, type Watched } from "./browser";
import { shapes } from "./mock/media";
import { startMock, type Mock, type Options } from "./mock/server";

const dist = join(process.cwd(), "dist");
let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

interface Setting extends BrowserContextOptions {
  mock?: Partial<Options>;
  path?: string;
  allow?: RegExp;
}

/** Runs a test on a fresh server and page, then looks for anything that went wrong on the way. */
export async function on(setting: Setting, act: (page: Page, mock: Mock, at: Watched) => Promise<void>): Promise<void> {
  const { mock: options, path, allow, ...context } = setting;
  const mock = await startMock({ dist, ...options });
  const at = await open(browser, mock.url, context, path);
  try {
    await act(at.page, mock, at);
    at.verify(allow);
  } finally {
    await at.close();
    await mock.close();
  }
}

export const box = (page: Page) => page.locator("#message");
export const phase = (page: Page, name: string) => page.locator(`.exchange[data-phase="${name}"]`).last();
export const node = (page: Page, id: number) => page.locator(`[data-task="${id}"]`).last();
export const stateOf = (page: Page, id: number, state: string) =>
  page.locator(`[data-task="${id}"][data-state="${state}"]`).last().waitFor();
export const example = (page: Page, n: number) => page.locator(".example").nth(n);

export async function ask(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await page.keyboard.press("Enter");
}

export async function attach(page: Page, name = "shapes.png"): Promise<void> {
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: "image/png", buffer: shapes() });
  await page.locator(".upload-ready").last().waitFor();
}

export const noSideways = (page: Page) =>
  page.evaluate(
    () =>
      document.documentElement.scrollWidth <= innerWidth &&
      [...document.querySelectorAll(".thread, .page, .docs")].every((e) => e.scrollWidth <= e.clientWidth + 1),
  );

/** Waits until there are exactly so many. What the page draws follows an action, but not at once. */
export const amount = (page: Page, selector: string, n: number) =>
  page.waitForFunction(([s, k]) => document.querySelectorAll(s).length === k, [selector, n] as const);

/** Waits until the element with this id has the focus. */
export const focused = (page: Page, id: string) => page.waitForFunction((x) => document.activeElement?.id === x, id);
