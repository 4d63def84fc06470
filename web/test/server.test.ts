// The page against a real `jarvis serve` with its offline planner, at the address in JARVIS_URL. As in the page tests, every
// test fails on console errors, refusals by the content policy, and requests that leave the origin.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launch, open } from "./browser";
import { png, shapes } from "./mock/media";
import { PAYLOADS } from "./mock/scripts";

const url = (process.env.JARVIS_URL ?? "").replace(/\/$/, "");
if (!url) throw new Error("set JARVIS_URL to the address of a running `jarvis serve`, such as http://127.0.0.1:8004");

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function on(
  setting: BrowserContextOptions & { path?: string; allow?: RegExp },
  act: (page: Page) => Promise<void>,
): Promise<void> {
  const { path, allow, ...context } = setting;
  const at = await open(browser, url, context, path);
  at.page.setDefaultTimeout(60_000);
  try {
    await act(at.page);
    at.verify(allow);
  } finally {
    await at.close();
  }
}

const phase = (page: Page, name: string) => page.locator(`.exchange[data-phase="${name}"]`).last();

async function attach(page: Page, buffer = shapes(), name = "shapes.png"): Promise<void> {
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: "image/png", buffer });
  await page.locator(".upload-ready").last().waitFor();
}

async function ask(page: Page, text: string): Promise<void> {
  await page.locator("#message").fill(text);
  await page.keyboard.press("Enter");
}

/** Writes down each state that the nodes of the graph go through. */
async function watchStates(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const seen: string[] = [];
    (window as unknown as { seen: string[] }).seen = seen;
    const note = () => {
      for (const n of document.querySelectorAll<HTMLElement>(".node")) {
        const word = `${n.dataset.task} ${n.dataset.state}`;
        if (!seen.includes(word)) seen.push(word);
      }
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  return () => page.evaluate(() => (window as unknown as { seen: string[] }).seen);
}

const pictures = (page: Page, at: string, n: number) =>
  page.waitForFunction(
    ([where, count]) =>
      [...document.querySelectorAll<HTMLImageElement>(`${where} img`)].filter((i) => i.complete && i.naturalWidth > 0)
        .length >= Number(count),
    [at, n] as const,
  );

test("the server sends the content policy the page is made for", async () => {
  const reply = await fetch(`${url}/`);
  const policy = reply.headers.get("content-security-policy") ?? "";
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(part), part);
  assert.ok(!/unsafe-/.test(policy));
});

test("the edges of an uploaded picture, with the graph changing live", () =>
  on({}, async (page) => {
    await attach(page);
    const states = await watchStates(page);
    await ask(page, "find the edges of this picture and tell me its main colours");
    await phase(page, "done").waitFor();
    const seen = await states();
    for (const id of [0, 1]) {
      assert.ok(seen.includes(`${id} running`), `task ${id} was seen running: ${seen.join(", ")}`);
      assert.ok(seen.indexOf(`${id} running`) < seen.indexOf(`${id} succeeded`));
    }
    await pictures(page, ".gallery", 1);
    await page.locator('.node[data-task="0"]').click();
    const words = await page.locator(".inspector").innerText();
    assert.match(words, /native\/canny/);
    assert.match(words, /it runs inside jarvis/);
    assert.match(words, /shapes\.png/);
    await pictures(page, ".inspector .media", 1);
    assert.match(await page.locator(".server-line").innerText(), /Offline planner/);
  }));

test("a plan is edited, then runs as edited", () =>
  on({}, async (page) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await attach(page);
    await ask(page, "find the edges of this picture and tell me its main colours");
    await page.locator(".plan").waitFor();
    assert.equal(await page.locator(".plan-task").count(), 2);
    assert.ok((await page.locator("#model-0 option").count()) >= 1);
    await page.getByRole("button", { name: /^Delete task 1/ }).click();
    await page.locator(".delete-ask").getByRole("button", { name: "Delete" }).click();
    await page.locator("#arg-1-text").fill("how bright is it?");
    await page.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
    assert.equal(await page.locator("[data-task]").count(), 1);
    await page.locator("[data-task]").click();
    assert.match(await page.locator(".inspector").innerText(), /how bright is it\?/);
  }));

test("a plan that cannot run says why, and can be mended", () =>
  on({}, async (page) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await ask(page, "tell the mood of this text: what a lovely morning");
    await page.locator(".plan").waitFor();
    await page.locator("#arg-0-text").fill("");
    await page.locator("#plan-why", { hasText: "text. This is needed" }).waitFor();
    assert.ok(await page.getByRole("button", { name: "Run this plan" }).isDisabled());
    await page.locator("#arg-0-text").fill("what a lovely morning");
    await page.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
  }));

test("a task of the catalogue is added to a plan, and does its work", () =>
  on({}, async (page) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await attach(page);
    await ask(page, "segment this picture, then find the edges of the result");
    await page.locator(".plan").waitFor();
    await page.getByRole("combobox", { name: "Add task" }).selectOption("image-to-text");
    await page.getByRole("button", { name: "Add task" }).click();
    await page.locator('[data-plan-task="2"] .suggestion', { hasText: "2. Find edges" }).click();
    await page.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
    await page.locator('[data-task="2"][data-state="succeeded"]').waitFor();
  }));

test("a run is done anew from one of its tasks", () =>
  on({}, async (page) => {
    await attach(page);
    await ask(page, "segment this picture, then find the edges of the result");
    await phase(page, "done").waitFor();
    const before = await page.locator(".exchange").getAttribute("data-run");
    await page.locator('[data-task="1"]').click();
    await page.getByRole("button", { name: "Run from here" }).click();
    await page.locator(".taken-over").waitFor();
    await phase(page, "done").waitFor();
    assert.notEqual(await page.locator(".exchange").getAttribute("data-run"), before);
    await pictures(page, ".gallery", 2);
  }));

test("several tabs with live runs share one stream", () =>
  on({}, async (page) => {
    const context = page.context();
    const tabs = [page, ...(await Promise.all(Array.from({ length: 6 }, () => context.newPage())))];
    for (const tab of tabs.slice(1)) await tab.goto(url);
    for (const tab of tabs) await ask(tab, "tell the mood of this text: what a lovely morning");
    for (const tab of tabs) await tab.locator('.exchange[data-phase="done"]').waitFor();
  }));

test("a chat is found in another browser, and what is kept is seen, deleted and gone", () =>
  on({}, async (page) => {
    const word = `morning ${Math.random().toString(36).slice(2)}`;
    await ask(page, `tell the mood of this text: what a lovely ${word}`);
    await phase(page, "done").waitFor();
    const kept = async () => {
      const reply = (await (await fetch(`${url}/chats?text=${encodeURIComponent(word)}`)).json()) as {
        chats: unknown[];
      };
      return reply.chats.length;
    };
    while (!(await kept())) await page.evaluate(() => new Promise(requestAnimationFrame));
    await on({}, async (other) => {
      await other.getByRole("link", { name: new RegExp(word) }).click();
      await other.locator('.exchange[data-phase="done"]').waitFor();
    });
    await page.getByRole("link", { name: "Data", exact: true }).click();
    await page.locator(".figures").waitFor();
    await page.getByText("until you delete it").first().waitFor();
    await page.getByRole("button", { name: "Delete all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete everything" }).click();
    await page.waitForFunction(() => [...document.querySelectorAll(".figures b")].every((e) => e.textContent === "0"));
    assert.equal(await kept(), 0);
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByText("No runs yet").waitFor();
  }));

test("plan only shows the document and runs nothing", () =>
  on({}, async (page) => {
    await page.getByRole("radio", { name: "Plan only" }).check();
    await attach(page);
    await ask(page, "segment this picture, then find the edges of the result");
    const text = await page.locator(".plan-json pre").innerText();
    const { execution_config } = JSON.parse(text) as {
      execution_config: { tasks: { task_type: string; dependencies: number[] }[] };
    };
    assert.deepEqual(
      execution_config.tasks.map((t) => [t.task_type, t.dependencies]),
      [
        ["image-segmentation", []],
        ["canny-control", [0]],
      ],
    );
  }));

test("hostile words stay words", () =>
  on({}, async (page) => {
    await attach(page, shapes(), `${(PAYLOADS[0] ?? "").replaceAll("/", "")}.png`);
    await ask(page, `tell the mood of this text: ${PAYLOADS.join(" ")} and find the edges of the picture`);
    await page.locator('.exchange:is([data-phase="done"], [data-phase="failed"])').waitFor();
    for (const node of await page.locator(".node").all()) {
      await node.click();
      await page.locator(".inspector").waitFor();
    }
    const bad = await page.evaluate(() => ({
      xss: (window as unknown as Record<string, unknown>).__xss,
      scripts: document.querySelectorAll("script:not([src^='/'])").length,
      handlers: document.querySelectorAll("[onerror], [onload]").length,
      media: [...document.querySelectorAll<HTMLImageElement>("img, audio, video")].filter(
        (i) => !i.src.startsWith(location.origin) && !i.src.startsWith("blob:"),
      ).length,
    }));
    assert.deepEqual(bad, { xss: undefined, scripts: 0, handlers: 0, media: 0 });
  }));

test("what was said is there after a reload, with its pictures", () =>
  on({}, async (page) => {
    await attach(page);
    await ask(page, "make it grey and half the size");
    await phase(page, "done").waitFor();
    await pictures(page, ".gallery", 1);
    const words = await page.locator(".answer .prose").innerText();
    await page.reload();
    await pictures(page, ".gallery", 1);
    assert.equal(await page.locator(".answer .prose").innerText(), words);
    await page.getByRole("link", { name: "Runs" }).click();
    await page
      .getByRole("link", { name: /Open run “make it grey/ })
      .first()
      .click();
    await pictures(page, ".gallery", 1);
    assert.equal(await page.locator(".answer .prose").innerText(), words);
  }));

/** A picture with so much going on that its segmentation takes a while. */
const busy = (): Buffer =>
  png(1800, 1300, (x, y) => [(x * y) % 251, (x * 7 + y * 13) % 256, ((x >> 3) * (y >> 2)) % 256]);

test("stop ends the run on the server too", () =>
  on({}, async (page) => {
    await attach(page, busy(), "busy.png");
    await ask(page, "segment this picture, then find the edges of the result");
    await page.locator(".node.is-running").first().waitFor();
    const id = await page.locator(".exchange").getAttribute("data-run");
    await page.keyboard.press("Escape");
    await phase(page, "cancelled").waitFor();
    await page.waitForFunction(async (run) => {
      const reply = (await (await fetch(`/runs/${run}`)).json()) as { status: string };
      return reply.status !== "running" && reply.status !== "queued";
    }, id);
  }));

/** Leaves the page while a run is live, and looks whether it goes on and is followed to its end, without being asked anew. */
async function reloadMidway(page: Page): Promise<void> {
  await page.locator(".node.is-running").first().waitFor();
  const id = await page.locator(".exchange").getAttribute("data-run");
  const calls: string[] = [];
  page.on("request", (r) => calls.push(`${r.method()} ${new URL(r.url()).pathname}`));
  assert.match(id ?? "", /^[\w-]{16,}$/, "the whole id of the run");
  await page.reload();
  await page.locator(`.exchange[data-run="${id}"]`).waitFor();
  await page.locator('.exchange:is([data-phase="done"], [data-phase="failed"], [data-phase="cancelled"])').waitFor();
  assert.equal(await page.locator(".exchange").getAttribute("data-phase"), "done", await page.innerText(".reply"));
  assert.deepEqual(await page.locator(".node").evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset.state)), [
    "succeeded",
    "succeeded",
  ]);
  await pictures(page, ".gallery", 2);
  assert.ok(!calls.some((c) => /^POST .*(hugginggpt|run)$/.test(c)), "it was not asked twice");
  const run = (await (await fetch(`${url}/runs/${id}`)).json()) as { status: string };
  assert.equal(run.status, "done");
}

test("a run that is live at a reload is followed to its end", () =>
  on({}, async (page) => {
    await attach(page, busy(), "busy.png");
    await ask(page, "segment this picture, then find the edges of the result");
    await reloadMidway(page);
  }));

test("a reviewed plan that is live at a reload is followed to its end", () =>
  on({}, async (page) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await attach(page, busy(), "busy.png");
    await ask(page, "segment this picture, then find the edges of the result");
    await page.getByRole("button", { name: "Run this plan" }).click();
    await reloadMidway(page);
  }));

const HEADINGS = { en: "What shall I get done?", ru: "Что нужно сделать?", zh: "要我做什么？" };

for (const [language, heading] of Object.entries(HEADINGS))
  test(`each example does its work (${language})`, () =>
    on({ locale: language }, async (page) => {
      await page.getByRole("heading", { name: heading }).waitFor();
      const n = await page.locator(".example").count();
      assert.ok(n >= 4);
      for (let i = 0; i < n; i++) {
        await page.evaluate(() => (location.hash = "#/"));
        await page.locator(".example").nth(i).click();
        await page.locator('.exchange:is([data-phase="done"], [data-phase="failed"])').waitFor();
        const states = await page
          .locator("[data-task]")
          .evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset.state));
        assert.ok(
          states.length >= 1 && states.every((s) => s === "succeeded"),
          `example ${i + 1}: ${states.join()}; ${await page.locator(".answer").innerText()}`,
        );
      }
      // The last one asks for the mood of a happy sentence: the first figure of the answer is the greatest.
      assert.match(await page.locator(".answer").innerText(), /(positive|положительная|正面) [5-9]\d%/);
    }));

test("dark and light", () =>
  on({ colorScheme: "dark" }, async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    await page.getByRole("radio", { name: "Light" }).check();
    assert.notEqual(await paper(), dark);
  }));

test("the API page shows every operation", () =>
  on({ path: "/docs" }, async (page) => {
    const described = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const wanted = Object.values(described.paths)
      .flatMap((p) => Object.keys(p))
      .filter((m) => ["get", "post", "put", "patch", "delete"].includes(m)).length;
    await page.locator(".method").first().waitFor();
    assert.equal(await page.locator(".method").count(), wanted);
    for (const operation of await page.locator(".operation").all()) await operation.locator("summary").first().click();
    assert.ok(await page.evaluate(() => document.querySelector(".docs")!.scrollWidth <= innerWidth));
  }));
