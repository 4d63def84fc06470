// The page in a real browser against the mock server. Each test ends with `verify`: no console error, no refusal by the
// content policy, no request to another origin.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launch, open, type Watched } from "./browser";
import { shapes } from "./mock/media";
import { PAYLOADS } from "./mock/scripts";
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
async function on(setting: Setting, act: (page: Page, mock: Mock, at: Watched) => Promise<void>): Promise<void> {
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

const box = (page: Page) => page.locator("#message");
const phase = (page: Page, name: string) => page.locator(`.exchange[data-phase="${name}"]`).last();
const node = (page: Page, id: number) => page.locator(`.node[data-task="${id}"]`).last();
const stateOf = (page: Page, id: number, state: string) => page.locator(`.node[data-task="${id}"][data-state="${state}"]`).last().waitFor();
const example = (page: Page, n: number) => page.locator(".example").nth(n);

async function ask(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await page.keyboard.press("Enter");
}

async function attach(page: Page, name = "shapes.png"): Promise<void> {
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: "image/png", buffer: shapes() });
  await page.locator(".upload-ready").last().waitFor();
}

const noSideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll(".thread, .page, .docs")].every((e) => e.scrollWidth <= e.clientWidth + 1));

test("a run changes the graph live, and its picture appears", () =>
  on({}, async (page, mock) => {
    mock.pace.held = true;
    await attach(page);
    await ask(page, "Segment this picture, then find the edges");
    await phase(page, "planning").waitFor();
    await mock.pace.next();
    await stateOf(page, 0, "running");
    await stateOf(page, 1, "waiting");
    assert.equal(await page.locator(".edge.flows").count(), 1, "the edge to the running task flows");
    await mock.pace.next();
    await stateOf(page, 0, "succeeded");
    await stateOf(page, 1, "running");
    await node(page, 0).locator("img").waitFor();
    mock.pace.free();
    await phase(page, "done").waitFor();
    const picture = page.locator(".gallery img").last();
    await picture.waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll<HTMLImageElement>(".gallery img")].every((i) => i.complete && i.naturalWidth > 0));
    assert.equal(await page.locator(".gallery img").count(), 2);
    assert.match(await page.locator(".provenance").innerText(), /Offline planner · native\/graph-segmenter · native\/canny/);
    await picture.click();
    await page.getByRole("dialog").getByRole("img").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const sent = mock.calls.find((c) => c.path === "/hugginggpt/stream")?.body as { attachments: object[] };
    assert.deepEqual(Object.keys(sent.attachments[0] ?? {}), ["kind", "path", "name"]);
  }));

test("an example brings its own picture", () =>
  on({}, async (page, mock) => {
    await example(page, 0).click();
    await phase(page, "done").waitFor();
    assert.ok(mock.calls.some((c) => c.path === "/upload"));
    await page.waitForFunction(() => (document.querySelector<HTMLImageElement>(".file-picture img")?.naturalWidth ?? 0) === 960);
  }));

test("the details of a task, with the keyboard alone", () =>
  on({ mock: { planner: "llm" } }, async (page) => {
    await attach(page);
    await ask(page, "Make a report");
    await phase(page, "done").waitFor();
    await node(page, 0).focus();
    for (const key of ["ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"]) await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => document.activeElement?.className.includes("node")), true);
    await node(page, 1).focus();
    await page.keyboard.press("Enter");
    const details = page.locator(".inspector");
    await details.waitFor();
    const words = await details.innerText();
    for (const wanted of ["Describe picture", "a house by a lake", "shapes.png", "Salesforce/blip-image-captioning-large", "Hugging Face", "Its description fits best", "nlpconnect/vit-gpt2-image-captioning", "microsoft/git-base-coco", "still loading", "210 ms"]) assert.ok(words.includes(wanted), wanted);
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.task), "1", "the focus goes back");
    await node(page, 4).click();
    assert.match(await details.innerText(), /from 2, 3/, "where an input came from");
  }));

test("a failed task says why, what to try, and what it took along", () =>
  on({}, async (page) => {
    await attach(page);
    await ask(page, "Say what is wrong");
    await phase(page, "done").waitFor();
    await stateOf(page, 1, "failed");
    await stateOf(page, 2, "skipped");
    await node(page, 1).click();
    const words = await page.locator(".inspector").innerText();
    assert.match(words, /Set HF_TOKEN/);
    assert.match(words, /not_configured/);
  }));

test("a plan is reviewed, changed, and run as changed", () =>
  on({}, async (page, mock) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await attach(page);
    await ask(page, "Find the edges and the colours");
    const form = page.getByRole("form", { name: "Review the plan" });
    await form.waitFor();
    assert.equal(mock.runs.length, 0, "nothing ran");
    await page.locator("#model-0 option", { hasText: "sd-controlnet-canny" }).waitFor({ state: "attached" });
    await page.locator("#model-0").selectOption("lllyasviel/sd-controlnet-canny");
    await page.locator("#arg-1-text").fill("how bright is it?");
    await form.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
    const sent = mock.calls.find((c) => c.path === "/plans/plan-1/run/stream")?.body as { execution_config: { tasks: { model_id: string; args: Record<string, string> }[]; version: number } };
    assert.deepEqual(sent.execution_config.tasks.map((t) => [t.model_id, t.args.text]), [["lllyasviel/sd-controlnet-canny", undefined], ["native/image-measure-qa", "how bright is it?"]]);
    assert.equal(sent.execution_config.version, 1, "what the page does not know goes back unchanged");
    assert.match(await page.locator(".answer").innerText(), /canny-control with lllyasviel/);
    await stateOf(page, 1, "succeeded");
  }));

test("deleting a task tells what follows, and can be taken back", () =>
  on({}, async (page, mock) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await attach(page);
    await ask(page, "Segment, then edges");
    await page.getByRole("button", { name: "Delete task 1, Segment picture" }).click();
    assert.match(await page.locator(".delete-ask").innerText(), /2\. Find edges cannot run without its output/);
    await page.locator(".delete-ask").getByRole("button", { name: "Delete" }).click();
    await page.getByText("The plan is empty").waitFor();
    assert.ok(await page.getByRole("button", { name: "Run this plan" }).isDisabled());
    await page.getByRole("button", { name: "Undo changes" }).click();
    await page.locator("#arg-1-image").fill("<GENERATED>-7");
    await page.getByText("Uses the output of task 8, which is not in the plan").waitFor();
    assert.ok(await page.getByRole("button", { name: "Run this plan" }).isDisabled());
    await page.locator("[data-plan-task='1']").getByRole("button", { name: "shapes.png" }).click();
    await page.getByRole("button", { name: "Delete task 1, Segment picture" }).click();
    assert.match(await page.locator(".delete-ask").innerText(), /Nothing else uses it/);
    await page.locator(".delete-ask").getByRole("button", { name: "Delete" }).click();
    assert.equal(await page.locator(".node").count(), 1, "the graph follows");
    await page.reload();
    await page.locator(".plan").waitFor();
    assert.equal(await page.locator(".plan-task").count(), 1, "an edit survives a reload");
    await page.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
    assert.equal(mock.runs[0]?.tasks, 1);
  }));

test("a plan the server refuses can be mended", () =>
  on({ allow: /422/ }, async (page, mock) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await ask(page, "Find the edges");
    await page.locator(".plan").waitFor();
    mock.failNext("/plans/plan-1/run/stream", 422, { error: { code: "bad_plan", message: "Task 0 names no picture", hint: "Attach one" } });
    await page.getByRole("button", { name: "Run this plan" }).click();
    await page.getByRole("alert").getByText("Task 0 names no picture").waitFor();
    await page.getByRole("button", { name: "Review the plan" }).click();
    await page.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
  }));

test("plain talk needs no review", () =>
  on({}, async (page) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    assert.match(await page.locator(".answer").innerText(), /Hello\. I can/);
    assert.equal(await page.locator(".graph-card").count(), 0);
  }));

test("plan only: nothing runs, and the plan can be taken away", () =>
  on({ permissions: ["clipboard-read", "clipboard-write"] }, async (page, mock) => {
    await page.getByRole("radio", { name: "Plan only" }).check();
    await attach(page);
    await ask(page, "Find the edges");
    await page.getByRole("region", { name: "The plan" }).waitFor();
    assert.equal(mock.runs.length, 0);
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".plan-json").getByRole("button", { name: "Download" }).click()]);
    assert.equal(file.suggestedFilename(), "execution_config.json");
    const saved = JSON.parse(readFileSync(await file.path(), "utf8")) as { execution_config: { tasks: object[] } };
    assert.equal(saved.execution_config.tasks.length, 2);
    await page.locator(".plan-json").getByRole("button", { name: "Copy" }).click();
    await page.locator(".plan-json").getByRole("button", { name: "Copied" }).waitFor();
    assert.deepEqual(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())), saved);
    await page.getByRole("button", { name: "Review and run" }).click();
    await page.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
  }));

test("hostile text stays text, wherever it comes from", () =>
  on({}, async (page) => {
    const name = `${PAYLOADS[0]}.png`;
    await page.locator('input[type="file"]').setInputFiles({ name: name.replaceAll("/", ""), mimeType: "image/png", buffer: shapes() });
    await page.locator(".upload-ready").waitFor();
    await ask(page, PAYLOADS.join(" "));
    await phase(page, "done").waitFor();
    await node(page, 0).click();
    await page.locator(".inspector details summary").click();
    await page.locator(".notes summary").click();
    const words = await page.locator("body").innerText();
    for (const payload of PAYLOADS.slice(0, 2)) assert.ok(words.split(payload).length > 4, payload);
    await page.goto(`${page.url().split("#")[0]}#/runs`);
    await page.locator(".runs a").click();
    await page.locator(".exchange").waitFor();
    await page.getByRole("radio", { name: "Review plan" }).waitFor({ state: "detached" });
    for (const hash of ["#/runs", "#/"]) {
      await page.evaluate((h) => (location.hash = h), hash);
      const bad = await page.evaluate(() => ({
        xss: (window as unknown as Record<string, unknown>).__xss,
        scripts: document.querySelectorAll("script:not([src^='/'])").length,
        handlers: document.querySelectorAll("[onerror], [onload], [onclick]").length,
        links: [...document.querySelectorAll("a")].filter((a) => !/^(https?:|blob:)/.test(a.href)).length,
        media: [...document.querySelectorAll("img, audio, video")].filter((i) => !/^(http:\/\/127|blob:)/.test((i as HTMLImageElement).src)).length,
      }));
      assert.deepEqual(bad, { xss: undefined, scripts: 0, handlers: 0, links: 0, media: 0 });
    }
  }));

test("where a link leads is seen", () =>
  on({}, async (page) => {
    await ask(page, "hostile");
    await phase(page, "done").waitFor();
    const link = page.locator(".prose a", { hasText: "bold" });
    assert.equal(await link.innerText(), "bold link (example.org)");
    assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  }));

test("a stop is at once, here and on the server, and keeps what was done", () =>
  on({}, async (page, mock) => {
    mock.pace.held = true;
    await attach(page);
    await ask(page, "Segment, then edges");
    await mock.pace.next();
    await mock.pace.next();
    await stateOf(page, 1, "running");
    await page.keyboard.press("Escape");
    await phase(page, "cancelled").waitFor();
    await stateOf(page, 0, "succeeded");
    await stateOf(page, 1, "cancelled");
    await page.locator(".prose").getByText("1 of 2 tasks had been done").waitFor();
    assert.ok(mock.calls.some((c) => c.path.endsWith("/cancel")));
    assert.equal(mock.runs[0]?.status, "interrupted");
    // and by the button, then again
    await ask(page, "Find the edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await phase(page, "cancelled").waitFor();
    mock.pace.free();
    await page.getByRole("button", { name: "Try again" }).last().click();
    await phase(page, "done").waitFor();
  }));

test("chats are kept, can be deleted and taken back, and the talk before goes along", () =>
  on({}, async (page, mock) => {
    await ask(page, "hello there");
    await phase(page, "done").waitFor();
    await ask(page, "Find the edges");
    await phase(page, "done").waitFor();
    const bodies = mock.calls.filter((c) => c.path === "/hugginggpt/stream").map((c) => (c.body as { messages: { role: string }[] }).messages.map((m) => m.role).join());
    assert.deepEqual(bodies, ["user", "user,assistant,user"]);
    await page.reload();
    await phase(page, "done").waitFor();
    assert.equal(await page.locator(".exchange").count(), 2);
    await stateOf(page, 1, "succeeded");
    await page.getByRole("button", { name: "New chat" }).first().click();
    await example(page, 0).waitFor();
    await page.getByRole("link", { name: "hello there" }).hover();
    await page.getByRole("button", { name: "Delete chat “hello there”" }).click();
    await page.getByText("Nothing here yet").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "hello there" }).click();
    await page.locator(".exchange").nth(1).waitFor();
  }));

test("rubbish in the browser's storage is no obstacle", () =>
  on({}, async (page) => {
    await page.evaluate(() => {
      for (const [key, value] of [["jarvis.1.chat.a", "{broken"], ["jarvis.1.chat.b", '{"id":"b","exchanges":[{"id":1},null,{"id":"x","mode":"run","run":{"phase":"done","tasks":[null,{"selection":{"fallbacks":3}}],"config":{"tasks":"no"}}}]}'], ["jarvis.1.chat.c", '{"id":"other","exchanges":[]}'], ["jarvis.1.settings", '{"theme":5,"language":"constructor"}'], ["unrelated", "kept"]] as const) localStorage.setItem(key, value);
    });
    await page.reload();
    await page.getByRole("link", { name: "Untitled" }).click();
    await page.locator(".exchange").waitFor();
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((k) => k !== "jarvis.1.settings").sort()), ["jarvis.1.chat.b", "unrelated"]);
  }));

test("a run that is live when the page is reloaded is picked up again", () =>
  on({}, async (page, mock) => {
    mock.pace.held = true;
    await ask(page, "Segment, then edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    await page.reload();
    await stateOf(page, 0, "running");
    mock.pace.free();
    await phase(page, "done").waitFor();
    assert.equal(mock.runs.length, 1, "it was not asked twice");
    assert.match(await page.locator(".answer").innerText(), /three regions/);
  }));

test("a broken connection is joined again without loss", () =>
  on({ allow: /ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION|network error/i }, async (page, mock) => {
    mock.pace.held = true;
    await ask(page, "Segment, then edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    mock.cutStreams();
    mock.pace.free();
    await phase(page, "done").waitFor();
    const joined = mock.calls.filter((c) => c.path.endsWith("/events"));
    assert.ok(joined.length >= 1);
    assert.equal(mock.runs.length, 1);
  }));

test("an error is a message with a way on", () =>
  on({ allow: /503|ERR_/ }, async (page, mock, at) => {
    mock.failNext("/hugginggpt/stream", 503, { error: { code: "busy", message: "The queue is full", hint: "Wait" } }, { "retry-after": "9" });
    await ask(page, "Find the edges");
    const alert = page.getByRole("alert");
    await alert.getByText("The queue is full").waitFor();
    assert.match(await alert.innerText(), /Try again in 9 s/);
    assert.match(await alert.innerText(), /busy/);
    await alert.getByRole("button", { name: "Try again" }).click();
    await phase(page, "done").waitFor();
    await at.context.setOffline(true);
    await ask(page, "hello");
    await alert.getByText("The server cannot be reached").waitFor();
    await at.context.setOffline(false);
    await page.getByRole("button", { name: "Try again" }).last().click();
    await page.locator(".prose", { hasText: "Hello. I can" }).last().waitFor();
  }));

test("a server with a token asks for it, and goes on where it was", () =>
  on({ mock: { token: "open sesame" }, allow: /401/ }, async (page, mock) => {
    await example(page, 0).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await dialog.getByText("does not take this token").waitFor();
    await dialog.getByLabel("Token").fill("open sesame");
    await page.keyboard.press("Enter");
    await phase(page, "done").waitFor();
    assert.equal(mock.runs.length, 1);
    assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage))).includes("sesame"), "the token is not kept");
    await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: "Log out" }).click()]);
    await ask(page, "hello");
    await dialog.getByLabel("Token").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".error-bubble", { hasText: "needs a token" }).waitFor();
  }));

test("three languages, the choice is kept", () =>
  on({ locale: "ru-RU" }, async (page) => {
    await page.getByRole("heading", { name: "Что нужно сделать?" }).waitFor();
    assert.equal(await page.getAttribute("html", "lang"), "ru");
    await page.getByRole("radio", { name: "中文" }).check();
    await page.getByRole("heading", { name: "要我做什么？" }).waitFor();
    await example(page, 1).click();
    await phase(page, "done").waitFor();
    assert.match(await node(page, 0).innerText(), /图片分割/);
    await page.reload();
    assert.equal(await page.getAttribute("html", "lang"), "zh-Hans");
    await page.getByRole("radio", { name: "English" }).check();
    assert.match(await node(page, 0).innerText(), /Segment picture/, "what is there already changes too");
  }));

test("dark and light, from the system and by hand", () =>
  on({ colorScheme: "dark" }, async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    await page.getByRole("radio", { name: "Light" }).check();
    const light = await paper();
    assert.notEqual(light, dark);
    await page.reload();
    assert.equal(await paper(), light);
    await page.getByRole("radio", { name: "System" }).check();
    assert.equal(await paper(), dark);
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await paper(), light);
  }));

test("files are dropped anywhere and pasted; a refused one says why", () =>
  on({ allow: /413/ }, async (page) => {
    const transfer = await page.evaluateHandle((bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], "dropped.png", { type: "image/png" }));
      return data;
    }, [...shapes()]);
    await page.dispatchEvent(".thread", "dragenter", { dataTransfer: transfer });
    await page.getByText("Drop to attach").waitFor();
    await page.dispatchEvent(".thread", "drop", { dataTransfer: transfer });
    await page.locator(".upload-ready", { hasText: "dropped.png" }).waitFor();
    await page.evaluate((bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], "pasted.png", { type: "image/png" }));
      document.getElementById("message")?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, [...shapes()]);
    await page.locator(".upload-ready", { hasText: "pasted.png" }).waitFor();
    await page.locator('input[type="file"]').setInputFiles({ name: "too-large.png", mimeType: "image/png", buffer: shapes() });
    await page.locator(".upload-failed", { hasText: "larger than 32 MB" }).waitFor();
    await page.getByRole("button", { name: "Remove too-large.png" }).click();
    await ask(page, "Find the edges");
    await phase(page, "done").waitFor();
    assert.equal(await page.locator(".file-picture").count(), 2);
  }));

test("Enter sends, Shift+Enter does not, and a sent message can be edited", () =>
  on({}, async (page, mock) => {
    await box(page).fill("hello");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("again");
    assert.equal(mock.runs.length, 0);
    await page.keyboard.press("Enter");
    await phase(page, "done").waitFor();
    assert.equal(mock.runs[0]?.request, "hello\nagain");
    await page.getByRole("button", { name: "Edit" }).click();
    assert.equal(await box(page).inputValue(), "hello\nagain");
    assert.equal(await page.locator(".exchange").count(), 0);
  }));

test("the reader who scrolls up is left alone", () =>
  on({ viewport: { width: 900, height: 420 } }, async (page, mock) => {
    await ask(page, "Make a report");
    await phase(page, "done").waitFor();
    const bottom = () => page.evaluate(() => { const e = document.querySelector(".thread")!; return e.scrollHeight - e.scrollTop - e.clientHeight; });
    await page.waitForFunction(() => { const e = document.querySelector(".thread")!; return e.scrollHeight - e.scrollTop - e.clientHeight < 90; });
    mock.pace.held = true;
    await ask(page, "Make a report again");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    await page.locator(".thread").hover();
    await page.mouse.wheel(0, -2000);
    await page.getByRole("button", { name: "Latest" }).waitFor();
    mock.pace.free();
    await page.locator('.exchange[data-phase="done"]').nth(1).waitFor({ state: "attached" });
    assert.ok((await bottom()) > 200, "it did not jump");
    await page.getByRole("button", { name: "Latest" }).click();
    await page.waitForFunction(() => { const e = document.querySelector(".thread")!; return e.scrollHeight - e.scrollTop - e.clientHeight < 90; });
  }));

test("the list of runs: open, rebuild, cancel", () =>
  on({}, async (page, mock) => {
    await example(page, 1).click();
    await phase(page, "done").waitFor();
    mock.pace.held = true;
    await page.getByRole("button", { name: "New chat" }).first().click();
    await ask(page, "Find the edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("row").nth(2).waitFor();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByRole("cell", { name: "Interrupted" }).waitFor();
    await page.getByRole("searchbox", { name: "Filter runs" }).fill("segment");
    assert.equal(await page.locator(".runs tbody tr").count(), 1);
    await page.getByRole("link", { name: /Open run “Segment/ }).click();
    await stateOf(page, 1, "succeeded");
    assert.match(await page.locator(".answer").innerText(), /three regions/);
    await page.waitForFunction(() => [...document.querySelectorAll<HTMLImageElement>(".gallery img, .file-picture img")].filter((i) => i.naturalWidth > 0).length === 3);
    await page.goBack();
    await page.locator(".runs").waitFor();
  }));

test("a live run is followed from the list", () =>
  on({}, async (page, mock) => {
    mock.pace.held = true;
    await ask(page, "Segment, then edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("link", { name: /Open run “Segment/ }).click();
    await stateOf(page, 0, "running");
    mock.pace.free();
    await phase(page, "done").waitFor();
    await page.locator(".prose", { hasText: "three regions" }).waitFor();
  }));

for (const width of [360, 390, 768])
  test(`nothing runs over the edge at ${width} pixels`, () =>
    on({ viewport: { width, height: 780 }, locale: "ru-RU", hasTouch: width < 700 }, async (page) => {
      assert.ok(await noSideways(page), "welcome");
      await page.getByRole("radio", { name: "Проверить план" }).check();
      await example(page, 0).click();
      await page.locator(".plan").waitFor();
      assert.ok(await noSideways(page), "review");
      await page.getByRole("button", { name: "Выполнить план" }).click();
      await phase(page, "done").waitFor();
      await node(page, 0).click();
      assert.ok(await noSideways(page), "answer");
      await page.getByRole("button", { name: "Меню" }).click();
      await page.getByRole("link", { name: "Запуски" }).click();
      await page.locator(".runs").waitFor();
      assert.ok(await noSideways(page), "runs");
      await page.goto(`${page.url().split("#")[0]}docs`);
      await page.locator(".operation").first().click();
      assert.ok(await noSideways(page), "docs");
    }));

test("everything that can be used has a name, and the answer is announced", () =>
  on({}, async (page) => {
    const nameless = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("button, a[href], input, select, textarea, img, dialog, [role=group], [role=radiogroup]")]
          .filter((e) => e.getClientRects().length > 0 && !e.closest("[aria-hidden=true]"))
          .filter((e) => {
            const input = e as HTMLInputElement;
            return !(e.getAttribute("aria-label") || e.getAttribute("alt") !== null || e.textContent?.trim() || e.querySelector("img[alt]:not([alt=''])") || [...(input.labels ?? [])].some((l) => l.innerText.trim()));
          })
          .map((e) => e.outerHTML.slice(0, 120)),
      );
    assert.deepEqual(await nameless(), []);
    await page.getByRole("radio", { name: "Review plan" }).check();
    await example(page, 1).click();
    await page.locator(".plan").waitFor();
    assert.deepEqual(await nameless(), []);
    await page.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
    await node(page, 0).click();
    assert.deepEqual(await nameless(), []);
    assert.match(await page.locator('[role="status"]').first().innerText(), /^Answer: Done as edited/);
    await page.getByRole("link", { name: "Skip to the message box" }).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "message");
  }));

test("who asks for less motion gets none", () =>
  on({ reducedMotion: "reduce" }, async (page, mock) => {
    mock.pace.held = true;
    await ask(page, "Segment, then edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    const longest = await page.evaluate(() => Math.max(...[...document.querySelectorAll("*")].map((e) => parseFloat(getComputedStyle(e).animationDuration) || 0)));
    assert.ok(longest < 0.05, `an animation of ${longest} s`);
    mock.pace.free();
    await phase(page, "done").waitFor();
  }));

test("the API page shows what there is", () =>
  on({ path: "/docs" }, async (page) => {
    await page.locator(".operation").first().locator("summary").click();
    await page.locator(".operation").first().getByText("curl 'http").waitFor();
    await page.getByRole("link", { name: "ChatBody" }).click();
    await page.locator("#schema-ChatBody[open]").waitFor();
    assert.match(await page.locator("#schema-ChatBody").innerText(), /messages: Turn\[\]/);
    await page.getByRole("searchbox").fill("cancel");
    assert.equal(await page.locator(".operation:visible").count(), 1);
  }));

test("sounds get a player, sentiment its figures", () =>
  on({}, async (page) => {
    await example(page, 4).click();
    await phase(page, "done").waitFor();
    await page.waitForFunction(() => (document.querySelector("audio")?.duration ?? 0) > 0.9);
    await ask(page, "the mood of this text: fine");
    await page.locator('.exchange[data-phase="done"]').nth(1).waitFor();
    await node(page, 0).click();
    await page.getByText("87.9%").waitFor();
  }));

test("the store makes room for what is new", () =>
  on({}, async (page) => {
    await page.evaluate(() => {
      for (let i = 0; i < 40; i++) localStorage.setItem(`jarvis.1.chat.old${i}`, JSON.stringify({ id: `old${i}`, title: `old ${i}`, updated: 1000 + i, exchanges: [{ id: "x", mode: "run", text: "y".repeat(90_000), run: { phase: "done", text: "z" } }] }));
    });
    await page.reload();
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    await page.reload();
    await phase(page, "done").waitFor();
    const kept = await page.evaluate(() => ({ size: Object.keys(localStorage).reduce((n, k) => n + (localStorage.getItem(k)?.length ?? 0), 0), first: localStorage.getItem("jarvis.1.chat.old0"), last: localStorage.getItem("jarvis.1.chat.old39") }));
    assert.ok(kept.size < 3_100_000, `${kept.size} characters`);
    assert.equal(kept.first, null, "the oldest went");
    assert.ok(kept.last, "the newer stayed");
  }));
