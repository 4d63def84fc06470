// Plans before they run: review, edits, deletions, refusals, plan only. Against the mock server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { amount, ask, attach, on, phase, stateOf } from "./harness";

test("a plan is reviewed, changed, and run as changed", () =>
  on({}, async (page, mock) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await attach(page);
    await ask(page, "Find the edges and the colours");
    const form = page.getByRole("form", { name: "Review the plan" });
    await form.waitFor();
    assert.equal(mock.runs.length, 0, "nothing ran");
    const other = page.locator("#model-0 option", { hasText: "sd-controlnet-canny" });
    await other.waitFor({ state: "attached" });
    assert.match((await other.textContent()) ?? "", /not configured/);
    await page.locator("#model-0").selectOption("lllyasviel/sd-controlnet-canny");
    await page.locator("#arg-1-text").fill("how bright is it?");
    await form.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
    const sent = mock.calls.find((c) => c.path === "/plans/plan-1/run")?.body as {
      execution_config: { tasks: { model_id: string; args: Record<string, string> }[]; version: number };
    };
    assert.deepEqual(
      sent.execution_config.tasks.map((t) => [t.model_id, t.args.text]),
      [
        ["lllyasviel/sd-controlnet-canny", undefined],
        ["native/image-measure-qa", "how bright is it?"],
      ],
    );
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
    await page.locator(".field-note").getByText("Uses the output of task 8, which is not in the plan").waitFor();
    assert.ok(await page.getByRole("button", { name: "Run this plan" }).isDisabled());
    await page.locator("[data-plan-task='1']").getByRole("button", { name: "shapes.png" }).click();
    await page.getByRole("button", { name: "Delete task 1, Segment picture" }).click();
    assert.match(await page.locator(".delete-ask").innerText(), /Nothing else uses it/);
    await page.locator(".delete-ask").getByRole("button", { name: "Delete" }).click();
    await amount(page, ".node", 1); // the graph follows
    await page.reload();
    await page.locator(".plan").waitFor();
    await amount(page, ".plan-task", 1); // an edit survives a reload
    await page.getByRole("button", { name: "Run this plan" }).click();
    await phase(page, "done").waitFor();
    assert.equal(mock.runs[0]?.tasks, 1);
  }));

test("the button that runs the plan is always in sight, and the tasks keep their order", () =>
  on({ viewport: { width: 1280, height: 720 } }, async (page) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await ask(page, "many tasks");
    const run = page.getByRole("button", { name: "Run this plan" });
    await run.waitFor();
    // Waited for, because the sidebar slides out of the way when the window becomes narrow.
    const inSight = () =>
      page.waitForFunction(() => {
        const button = document.querySelector(".plan-bar .primary");
        const { x, y, width, height } = button?.getBoundingClientRect() ?? new DOMRect();
        return [0.1, 0.5, 0.9].every(
          (part) => document.elementFromPoint(x + width * part, y + height * part) === button,
        );
      });
    for (const size of [
      { width: 1280, height: 720 },
      { width: 390, height: 700 },
    ]) {
      await page.setViewportSize(size);
      for (const n of [0, 7, 15]) {
        await page.locator(".plan-task").nth(n).scrollIntoViewIfNeeded();
        await inSight();
      }
    }
    await page.locator(".plan-json summary").click();
    await page.locator(".plan-json pre").hover();
    await inSight();
    await page.locator("#arg-2-image").fill("<GENERATED>-0"); // runs later than the fourth now
    await page.locator("[data-plan-task='2']", { hasText: "after 1. Find edges" }).waitFor();
    const numbers = await page.locator(".plan-number").allInnerTexts();
    assert.deepEqual(
      numbers.map(Number),
      numbers.map((_, i) => i + 1),
    );
  }));

test("an open question about a deletion comes before the run", () =>
  on({}, async (page, mock) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await attach(page);
    await ask(page, "Find the edges and the colours");
    const run = page.getByRole("button", { name: "Run this plan" });
    await page.getByRole("button", { name: /^Delete task 2,/ }).click();
    await page.getByText("First decide whether task 2 is deleted").waitFor();
    assert.equal(await page.locator(".jump").isVisible(), false, "nothing lies over the question");
    assert.ok(await run.isDisabled());
    await page.getByRole("button", { name: /^Delete task 1,/ }).click();
    await amount(page, ".delete-ask", 1);
    await page.getByRole("button", { name: "Keep" }).click();
    assert.ok(await run.isEnabled());
    await page.getByRole("button", { name: /^Delete task 2,/ }).click();
    await page.locator(".delete-ask").getByRole("button", { name: "Delete" }).click();
    await run.click();
    await phase(page, "done").waitFor();
    assert.equal(mock.runs[0]?.tasks, 1);
  }));

test("a plan the server refuses can be mended", () =>
  on({ allow: /422/ }, async (page, mock) => {
    await page.getByRole("radio", { name: "Review plan" }).check();
    await ask(page, "Find the edges");
    await page.locator(".plan").waitFor();
    mock.failNext("/plans/plan-1/run", 422, {
      error: { code: "bad_plan", message: "Task 0 names no picture", hint: "Attach one" },
    });
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
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(".plan-json").getByRole("button", { name: "Download" }).click(),
    ]);
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
