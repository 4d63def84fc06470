// The plan as something to be put together: tasks and tools added, edges drawn and removed, arguments by type, steps back.
import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { amount, ask, attach, node, on, phase } from "./harness";

async function review(page: Page, text = "Segment, then edges"): Promise<void> {
  await page.getByRole("radio", { name: "Review plan" }).check();
  await attach(page);
  await ask(page, text);
  await page.locator(".plan").waitFor();
}

const task = (page: Page, id: number) => page.locator(`[data-plan-task="${id}"]`);
const run = (page: Page) => page.getByRole("button", { name: "Run this plan" });
const why = (page: Page, text: string | RegExp) => page.locator("#plan-why").getByText(text).waitFor();
const edges = (page: Page) => page.locator(".edge-grip").count();

test("a task of the catalogue is added, filled in by type, and run", () =>
  on({}, async (page, mock) => {
    await review(page);
    await page.getByRole("combobox", { name: "Add task" }).selectOption("image-to-image");
    await page.getByRole("button", { name: "Add task" }).click();
    await amount(page, ".plan-task", 3);
    await amount(page, ".node", 3);
    assert.ok(await run(page).isDisabled());
    await why(page, "3. Change picture: image. This is needed");
    await task(page, 2).getByRole("button", { name: "2. Find edges" }).click();
    await task(page, 2).getByText("after 2. Find edges").waitFor();
    const more = task(page, 2).getByLabel("Another input");
    await more.selectOption("size");
    await task(page, 2).getByLabel("size", { exact: true }).fill("half");
    await why(page, "3. Change picture: size. That is not a number");
    await task(page, 2).getByLabel("size", { exact: true }).fill("1.5");
    await why(page, /not a whole number/);
    await task(page, 2).getByLabel("size", { exact: true }).fill("2");
    await more.selectOption("mode");
    await task(page, 2).getByLabel("mode", { exact: true }).selectOption("sharp");
    await run(page).click();
    await phase(page, "done").waitFor();
    const sent = mock.calls.find((c) => c.path === "/plans/plan-1/run")?.body as {
      execution_config: { tasks: { args: object; dependencies: number[]; model_id: string; hosted_on: string }[] };
    };
    const added = sent.execution_config.tasks[2];
    assert.deepEqual(added?.args, { image: "<GENERATED>-1", size: "2", mode: "sharp" });
    assert.deepEqual(added?.dependencies, [1]);
    assert.deepEqual([added?.model_id, added?.hosted_on], ["native/turn", "native"]);
  }));

test("a tool is added by its schema, and one that is not approved says why it cannot be", () =>
  on({}, async (page, mock) => {
    await review(page);
    const choice = page.getByRole("combobox", { name: "Add task" });
    await choice.selectOption("trains/cancel");
    await page.getByText("waits for approval by the owner").waitFor();
    assert.ok(await page.getByRole("button", { name: "Add task" }).isDisabled());
    await choice.selectOption("shop/reserve");
    await page.getByText("Puts an article aside").waitFor();
    await page.getByRole("button", { name: "Add task" }).click();
    await task(page, 2).getByLabel("article").fill("17");
    await task(page, 2).getByLabel("Another input").selectOption("gift");
    await task(page, 2).getByLabel("gift", { exact: true }).selectOption("Yes");
    await task(page, 2).getByRole("button", { name: "Remove gift" }).click();
    await run(page).click();
    await phase(page, "done").waitFor();
    const sent = mock.calls.find((c) => c.path === "/plans/plan-1/run")?.body as {
      execution_config: { tasks: { args: object; model_id: string; hosted_on: string }[] };
    };
    assert.deepEqual(sent.execution_config.tasks[2]?.args, { article: "17" });
    assert.equal(sent.execution_config.tasks[2]?.hosted_on, "tool");
  }));

test("edges are added and taken away in the form, and none makes a circle", () =>
  on({}, async (page) => {
    await review(page, "Find the edges");
    assert.equal(await edges(page), 0);
    await task(page, 1).getByLabel("Waits for").selectOption({ label: "1. Find edges" });
    await task(page, 1).getByText("after 1. Find edges").waitFor();
    assert.equal(await edges(page), 1);
    assert.ok(
      await task(page, 0)
        .getByLabel("Waits for")
        .isDisabled()
        .catch(() => true),
      "that would be a circle",
    );
    await task(page, 1).getByRole("button", { name: "No longer wait for 1. Find edges" }).click();
    await task(page, 1).getByText("starts at once").waitFor();
    assert.equal(await edges(page), 0);
  }));

test("edges are drawn and removed in the graph", () =>
  on({}, async (page) => {
    await review(page, "Find the edges");
    await page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished)));
    const handle = (await node(page, 0).locator("[data-link]").boundingBox())!;
    const to = (await node(page, 1).boundingBox())!;
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down();
    await page.mouse.move(to.x + 30, to.y + 20, { steps: 6 });
    await page.locator(".node-target").waitFor();
    await page.mouse.up();
    await task(page, 1).getByText("after 1. Find edges").waitFor();
    await amount(page, ".inspector", 0);
    await page.locator(".edge-grip").dispatchEvent("click");
    await task(page, 1).getByText("starts at once").waitFor();
    // An edge that carries an output cannot be removed alone, and the reason is said.
    await page.getByRole("button", { name: "New chat" }).first().click();
    await review(page);
    await page.locator(".edge-grip").first().dispatchEvent("click");
    await page.locator(".notice", { hasText: "as long as image uses the output" }).waitFor();
  }));

test("steps are taken back and done again, letters of one field as one step", () =>
  on({}, async (page) => {
    await review(page);
    const undo = page.getByRole("button", { name: /^Undo \(/ });
    const redo = page.getByRole("button", { name: /^Redo \(/ });
    assert.ok((await undo.isDisabled()) && (await redo.isDisabled()));
    const image = page.locator("#arg-0-image");
    const before = await image.inputValue();
    await image.fill("");
    await image.pressSequentially("abc");
    await page.getByRole("button", { name: "Delete task 2, Find edges" }).click();
    await page.locator(".delete-ask").getByRole("button", { name: "Delete" }).click();
    await amount(page, ".plan-task", 1);
    await undo.click();
    await amount(page, ".plan-task", 2);
    assert.equal(await image.inputValue(), "abc");
    await image.press("Control+z");
    await page.waitForFunction(
      (x) => (document.querySelector("#arg-0-image") as HTMLTextAreaElement).value === x,
      before,
    );
    assert.ok(await undo.isDisabled());
    await image.press("Control+Shift+z");
    await redo.click();
    await amount(page, ".plan-task", 1);
    assert.ok(await redo.isDisabled());
    await page.getByRole("button", { name: "Undo changes" }).click();
    await amount(page, ".plan-task", 2);
    await undo.click();
    await amount(page, ".plan-task", 1);
  }));
