// What tasks give, in the chat: as they finish, once each, and the way to do them again.
import assert from "node:assert/strict";
import test from "node:test";
import { amount, ask, attach, node, on, phase, stateOf } from "./harness";

test("results stand in the chat as tasks finish, and files are shown once", () =>
  on({ mock: { planner: "llm" } }, async (page, mock) => {
    mock.pace.held = true;
    await attach(page);
    await ask(page, "Make a report");
    for (let i = 0; i < 3; i++) await mock.pace.next();
    await stateOf(page, 1, "succeeded");
    // Two tasks have finished: a picture and a description, while the others go on.
    await amount(page, ".gallery img", 1);
    await page.locator(".result", { hasText: "a house by a lake" }).waitFor();
    await page.locator('.exchange[data-phase="running"]').waitFor();
    mock.pace.free();
    await phase(page, "done").waitFor();
    // Each picture of the run stands in the chat once: in the gallery, and not again inside the text.
    await amount(page, ".gallery img", 2);
    await amount(page, ".prose img", 0);
    await page.locator(".prose .chip", { hasText: "1. Segment picture" }).waitFor();
    await amount(page, ".answer > .results", 0);
    await page.getByText("Results of the tasks").click();
    await page.locator(".result", { hasText: "a house by a lake" }).waitFor();
  }));

test("what a run took stands under its answer: time, tokens and cost", () =>
  on({ mock: { planner: "llm", pace: 10 } }, async (page) => {
    await attach(page);
    await ask(page, "Make a report");
    await phase(page, "done").waitFor();
    const took = await page.locator(".provenance").innerText();
    assert.match(took, / · [\d.,]+\s?m?s · 2,?242 tokens · 0\.0123 USD$/);
  }));

for (const [request, width, height] of [
  ["Make a report", 900, 420],
  ["many", 390, 780],
] as const)
  test(`the beginning of a long answer is in sight when it is there: ${request}`, () =>
    on({ mock: { planner: "llm", pace: 10 }, viewport: { width, height } }, async (page) => {
      await attach(page);
      await ask(page, request);
      await phase(page, "done").waitFor();
      await page.waitForFunction(() =>
        [...document.querySelectorAll<HTMLImageElement>(".gallery img")].every((i) => i.complete),
      );
      await page.waitForFunction(() => {
        const box = document.querySelector(".thread")!.getBoundingClientRect();
        const first = document.querySelector(".answer > .prose > *")!.getBoundingClientRect();
        return first.top >= box.top && first.bottom <= box.bottom;
      });
      await page.getByRole("button", { name: "Latest" }).click();
      await page.waitForFunction(() => {
        const box = document.querySelector(".thread")!;
        return box.scrollHeight - box.scrollTop - box.clientHeight < 90;
      });
    }));

test("one task needs no graph, and its details open from a line", () =>
  on({}, async (page) => {
    await ask(page, "reserve article 17");
    await page.locator(".leave").getByRole("button", { name: "Allow" }).click();
    await phase(page, "done").waitFor();
    await amount(page, ".graph-card", 0);
    await node(page, 0).click();
    await page.locator(".inspector", { hasText: "shop/reserve" }).waitFor();
    await node(page, 0).click();
    await amount(page, ".inspector", 0);
  }));

test("a task that failed is tried again from there, and what was done is taken over", () =>
  on({}, async (page, mock) => {
    await ask(page, "Say what is wrong");
    await phase(page, "done").waitFor();
    const failed = page.locator(".failures li");
    await amount(page, ".failures li", 1);
    await failed.getByRole("button", { name: "Try again from here" }).click();
    await page.locator(".taken-over").waitFor();
    await phase(page, "done").waitFor();
    await stateOf(page, 1, "succeeded");
    await amount(page, ".exchange", 1);
    assert.deepEqual(mock.calls.find((c) => c.path.endsWith("/retry"))?.body, { from: 1 });
    // From the details of any task, and from the page of a run.
    await node(page, 0).click();
    await page.locator(".inspector").getByRole("button", { name: "Run from here" }).click();
    await phase(page, "done").waitFor();
    const before = mock.runs[0]?.id;
    assert.equal(mock.runs.length, 3);
    await page.goto(`${mock.url}/#/runs/${before}`);
    await node(page, 2).click();
    await page.locator(".inspector").getByRole("button", { name: "Run from here" }).click();
    await page.waitForFunction((old) => !location.hash.endsWith(old ?? ""), before);
    await phase(page, "done").waitFor();
    assert.deepEqual(mock.calls.filter((c) => c.path.endsWith("/retry")).at(-1)?.body, { from: 2 });
  }));

test("a retry that the server refuses leaves the run as it was", () =>
  on({ allow: /409/ }, async (page, mock) => {
    await ask(page, "Say what is wrong");
    await phase(page, "done").waitFor();
    mock.failNext(`/runs/${mock.runs[0]?.id}/retry`, 409, {
      error: { code: "elsewhere", message: "It goes on elsewhere" },
    });
    await page.locator(".failures").getByRole("button").click();
    await page.locator(".notice", { hasText: "It goes on elsewhere" }).waitFor();
    await stateOf(page, 1, "failed");
    await phase(page, "done").waitFor();
  }));

test("tables, tasks, formulas and coloured code in an answer; what draws them is loaded when it is needed", () =>
  on({}, async (page) => {
    const loaded = () =>
      page.evaluate(() => performance.getEntriesByType("resource").map((e) => new URL(e.name).pathname));
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    assert.ok(!(await loaded()).some((path) => /math|code/.test(path)));
    await ask(page, "format something");
    await page.locator(".prose math").nth(1).waitFor();
    await page.locator(".prose .hljs-keyword", { hasText: "def" }).waitFor();
    assert.equal(await page.locator(".prose math msqrt").count(), 1);
    assert.equal(
      await page.evaluate(() => document.querySelector(".prose math")?.namespaceURI),
      "http://www.w3.org/1998/Math/MathML",
    );
    assert.deepEqual(await page.locator(".prose td").allInnerTexts(), ["2023", "1,204", "–", "2024", "1,518", "+26%"]);
    assert.deepEqual(
      await page.locator(".prose li.task input").evaluateAll((all) => all.map((e) => (e as HTMLInputElement).checked)),
      [true, false],
    );
    await page.locator(".prose del", { hasText: "2021" }).waitFor();
    assert.ok((await loaded()).includes("/math.js"));
  }));
