// Documents, tables and charts; the choice of models and pipelines; the tools; being told of the end of a long run.
import assert from "node:assert/strict";
import test from "node:test";
import { amount, ask, box, on, phase } from "./harness";

test("a document is attached, asked by the pipeline that quotes, and its chart and table are shown", () =>
  on({ mock: { planner: "llm", pipelines: ["hugginggpt", "react"] } }, async (page, mock) => {
    await box(page).waitFor();
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "report.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4") });
    await page.locator(".upload-ready", { hasText: "report.pdf" }).waitFor();
    await page.getByRole("button", { name: "Use react" }).click();
    await amount(page, ".composer-hint", 0);
    await ask(page, "Where is the head office?");
    await phase(page, "done").waitFor();
    assert.ok(mock.calls.some((c) => c.path === "/pipelines/react/runs"));
    await page.locator("blockquote", { hasText: "Its head office is in Bergen." }).waitFor();
    await amount(page, ".gallery img", 1);
    const table = page.locator(".table-file");
    await table.getByRole("columnheader", { name: "people" }).waitFor();
    assert.deepEqual(await table.locator("tbody tr").first().locator("td").allInnerTexts(), ["City 0, north", "0"]);
    await amount(page, ".table-file tbody tr", 12);
    await table.getByText("30 rows").waitFor();
    assert.equal(await table.getByRole("link").getAttribute("download"), "table.csv");
  }));

test("a request names the chat model that was chosen, and the choice is kept", () =>
  on({ mock: { planner: "llm", models: ["qwen3:8b", "gpt-4o", "offline"] } }, async (page, mock) => {
    const choice = page.getByRole("combobox", { name: "Chat model" });
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    await choice.selectOption("gpt-4o");
    await page.reload();
    await choice.waitFor();
    assert.equal(await choice.inputValue(), "gpt-4o");
    await ask(page, "hello again");
    await amount(page, '.exchange[data-phase="done"]', 2);
    const models = mock.calls.filter((c) => c.path === "/hugginggpt").map((c) => (c.body as { model?: string }).model);
    assert.deepEqual(models, [undefined, "gpt-4o"]);
    assert.deepEqual(await choice.locator("option").allInnerTexts(), ["qwen3:8b", "gpt-4o", "Offline planner"]);
  }));

test("the tools are listed with what they do and what was approved", () =>
  on({ path: "/#/tools" }, async (page) => {
    const waiting = page.getByRole("list", { name: "Waiting for approval" });
    assert.match(await waiting.innerText(), /trains\/cancel[^]*removes something[^]*trains · mcp[^]*new/);
    const ready = page.getByRole("list", { name: "Ready" });
    assert.match(await ready.innerText(), /shop\/reserve[^]*changes something[^]*approved/);
    await ready.locator("summary").first().click();
    await ready.getByText("The number of the article").waitFor();
  }));

test("who wants to is told when a long run ends, and is asked on a click only", () =>
  on({}, async (page, mock) => {
    await page.addInitScript(() => {
      const told: string[] = [];
      let asked = 0;
      class Fake {
        static permission = "default";
        static requestPermission = async () => ((asked += 1), (Fake.permission = "granted"));
        constructor(title: string, options: { body: string }) {
          told.push(`${title}: ${options.body}`);
        }
      }
      Object.assign(globalThis, { Notification: Fake, told, askedOften: () => asked });
    });
    await page.clock.install();
    await page.reload();
    mock.pace.held = true;
    await ask(page, "Segment, then edges");
    await phase(page, "planning").waitFor();
    const button = page.getByRole("button", { name: "Tell me when it is done" });
    assert.equal(await button.count(), 0);
    await page.clock.fastForward(11_000);
    assert.equal(await page.evaluate("askedOften()"), 0);
    await button.click();
    await page.getByRole("button", { name: "You will be told" }).waitFor();
    await page.evaluate(() => Object.defineProperty(document, "visibilityState", { get: () => "hidden" }));
    mock.pace.free();
    await phase(page, "done").waitFor();
    assert.deepEqual(await page.evaluate("told"), ["jarvis is done: Segment, then edges"]);
  }));
