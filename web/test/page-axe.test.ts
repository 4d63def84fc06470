// Accessibility by the rules of axe: the page in its main states, at two sizes, light and dark.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import type { Page } from "playwright-core";
import { ask, node, on, phase } from "./harness";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  id: string;
  help: string;
  nodes: { html: string; failureSummary?: string }[];
}

async function findings(page: Page): Promise<string[]> {
  // Half-shown things have half their colours.
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        .map((a) => (a.effect?.getTiming().iterations === Infinity ? null : a.finished.catch(() => null))),
    ),
  );
  await page.evaluate(axe);
  const found = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run: () => Promise<{ violations: Finding[] }> } }).axe
      .run()
      .then((r) => r.violations),
  );
  return found.map(
    (f) => `${f.id}: ${f.help}: ${f.nodes.map((n) => `${n.html.slice(0, 160)} ${n.failureSummary ?? ""}`).join(" | ")}`,
  );
}

const STATES: Record<string, (page: Page) => Promise<void>> = {
  welcome: async (page) => void (await page.getByRole("heading", { level: 1 }).waitFor()),
  "a graph with details": async (page) => {
    await ask(page, "Make a report");
    await phase(page, "done").waitFor();
    await node(page, 1).click();
    await page.locator(".inspector").waitFor();
  },
  "a large graph": async (page) => {
    await ask(page, "many");
    await phase(page, "done").waitFor();
    await page.locator(".minimap").waitFor();
  },
  "failed tasks": async (page) => {
    await ask(page, "what is wrong");
    await phase(page, "done").waitFor();
  },
  "a formatted answer": async (page) => {
    await ask(page, "format something");
    await page.locator(".prose math").nth(1).waitFor();
    await page.locator(".hljs-keyword").first().waitFor();
  },
  "a call that waits": async (page) => {
    await ask(page, "reserve article 17");
    await page.getByRole("button", { name: "Change the arguments" }).click();
  },
  "a plan under review": async (page) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await ask(page, "Segment, then edges");
    await page.locator(".plan").waitFor();
  },
  "a plan with a task that was added": async (page) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await ask(page, "Segment, then edges");
    await page.getByRole("combobox", { name: "Add task" }).selectOption("shop/reserve");
    await page.getByRole("button", { name: "Add task" }).click();
  },
  "a menu of a chat": async (page) => {
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    if (await page.getByRole("button", { name: "Menu" }).isVisible())
      await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: "More about “hello”" }).click();
    await page.getByRole("menu").waitFor();
  },
  data: async (page) => {
    await page.evaluate(() => (location.hash = "#/data"));
    await page.locator(".figures").waitFor();
  },
  "before all is deleted": async (page) => {
    await page.evaluate(() => (location.hash = "#/data"));
    await page.getByRole("button", { name: "Delete all" }).click();
    await page.getByRole("dialog").waitFor();
  },
  tools: async (page) => {
    await page.evaluate(() => (location.hash = "#/tools"));
    await page.locator(".tools").first().waitFor();
  },
  runs: async (page) => {
    await ask(page, "Segment, then edges");
    await phase(page, "done").waitFor();
    await page.evaluate(() => (location.hash = "#/runs"));
    await page.locator(".runs tbody tr").waitFor();
  },
};

for (const [size, viewport] of Object.entries({
  desktop: { width: 1280, height: 860 },
  phone: { width: 390, height: 844 },
}))
  for (const colorScheme of ["light", "dark"] as const)
    test(`axe finds nothing: ${size}, ${colorScheme}`, async () => {
      const found: string[] = [];
      for (const [name, act] of Object.entries(STATES))
        await on({ viewport, colorScheme, bypassCSP: true, reducedMotion: "reduce" }, async (page) => {
          await act(page);
          found.push(...(await findings(page)).map((f) => `${name}: ${f}`));
        });
      assert.deepEqual(found, []);
    });
