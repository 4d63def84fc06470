// What is kept: the list of runs with its filters and parts, deleting, and the page about a person's data.
import assert from "node:assert/strict";
import test from "node:test";
import { amount, ask, on, phase, stateOf } from "./harness";
import { newRun } from "./mock/runs";
import type { Mock } from "./mock/server";

const DAY = 86_400_000;

/** Runs of the past: `n` of them, one a day, some of which failed. */
function past(mock: Mock, n: number): void {
  for (let i = 0; i < n; i++)
    mock.runs.push({
      ...newRun(`request ${i}`),
      started: Date.now() - i * DAY - 60_000,
      status: i % 5 === 4 ? "failed" : "done",
      ms: 1000,
      tasks: 2,
      ok: 2,
      user: i % 2 ? "bob" : "ada",
    });
}

test("runs are found by words, state, time and user, part by part", () =>
  on({ path: "/#/runs" }, async (page, mock) => {
    past(mock, 70);
    await page.getByRole("button", { name: "Refresh" }).click();
    await amount(page, ".runs tbody tr", 50);
    await page.getByRole("button", { name: "More" }).click();
    await amount(page, ".runs tbody tr", 70);
    await page.getByRole("combobox", { name: "State" }).selectOption({ label: "Failed" });
    await amount(page, ".runs tbody tr", 14);
    await page.getByRole("combobox", { name: "User" }).selectOption("bob");
    await amount(page, ".runs tbody tr", 7);
    await page.getByRole("combobox", { name: "Started" }).selectOption({ label: "Last 30 days" });
    await amount(page, ".runs tbody tr", 3);
    await page.getByRole("searchbox", { name: "Filter runs" }).fill("request 19");
    await amount(page, ".runs tbody tr", 1);
    await page.getByRole("searchbox", { name: "Filter runs" }).fill("nothing");
    await page.getByText("No run matches").waitFor();
    const last = mock.calls.filter((c) => c.path === "/runs").at(-1)?.search ?? "";
    assert.match(last, /status=failed%2Cinterrupted&text=nothing&user=bob&since_ms=\d+/);
  }));

test("a run is deleted after a question, and old ones together", () =>
  on({ path: "/#/runs" }, async (page, mock) => {
    past(mock, 40);
    await page.getByRole("button", { name: "Refresh" }).click();
    await amount(page, ".runs tbody tr", 40);
    const bin = page.getByRole("button", { name: "Delete run “request 3”" });
    const dialog = page.getByRole("dialog");
    await bin.click();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await amount(page, "dialog", 0);
    assert.equal(mock.runs.length, 40);
    await bin.click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.locator(".notice", { hasText: "The run is deleted, and with it 2 files" }).waitFor();
    await amount(page, ".runs tbody tr", 39);
    await page.getByRole("button", { name: "Delete old runs" }).click();
    await dialog.getByRole("combobox").selectOption({ label: "older than 7 days" });
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.locator(".notice", { hasText: "33 runs and 66 files are deleted" }).waitFor();
    await amount(page, ".runs tbody tr", 6);
  }));

test("a run that goes on is not deleted, and the reason is said where it was asked", () =>
  on({ allow: /409/ }, async (page, mock) => {
    await ask(page, "Segment, then edges");
    await phase(page, "done").waitFor();
    const run = mock.runs[0]!;
    await page.goto(`${mock.url}/#/runs/${run.id}`);
    await stateOf(page, 1, "succeeded");
    run.status = "running";
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText("the run goes on").waitFor();
    run.status = "done";
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForFunction(() => location.hash === "#/runs");
    await page.getByText("No runs yet").waitFor();
  }));

test("the page about data says what is kept, where it goes and how much it is; all of it is deleted and seen to be gone", () =>
  on({ mock: { chats: true } }, async (page, mock) => {
    await ask(page, "Segment, then edges");
    await phase(page, "done").waitFor();
    while (!mock.chats.size) await page.evaluate(() => new Promise(requestAnimationFrame));
    await page.getByRole("link", { name: "Data", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Your data" }).waitFor();
    const figures = () => page.locator(".figures b").allInnerTexts();
    await page.locator(".figures").waitFor();
    assert.deepEqual(await figures(), ["1", "2", "1", "0"]);
    for (const words of [
      "30 days after it ended",
      "run journal on this machine",
      "no run speaks of it",
      "addresses that you name",
      "Today: 2,400 of 10,000 tokens",
      "1 chat in this browser",
    ])
      await page.getByText(words).first().waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export all" }).click();
    assert.equal((await download).suggestedFilename(), "jarvis-data.zip");
    await page.getByRole("button", { name: "Delete all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete everything" }).click();
    await page.locator(".notice", { hasText: "Deleted: 1 run, 2 files, 1 chat, and 0 plans" }).waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll(".figures b")].every((e) => e.textContent === "0"));
    await page.getByText("0 chats in this browser").waitFor();
    await page.reload();
    await page.getByText("Nothing here yet").waitFor();
    assert.equal(mock.chats.size, 0, "nothing comes back");
  }));

test("chats are taken out of this browser alone", () =>
  on({}, async (page, mock) => {
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    await page.getByRole("link", { name: "Data", exact: true }).click();
    await page.getByText("They are nowhere else").waitFor();
    await page.getByRole("button", { name: "Remove from this browser" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("0 chats in this browser").waitFor();
    assert.equal(mock.runs.length, 1);
  }));

test("a part of the page that cannot be loaded says so, with the way to try again", () =>
  on({ allow: /ERR_FAILED|dynamically imported/ }, async (page) => {
    await page.route("**/pages.js", (route) => route.abort());
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("alert").getByText("The server cannot be reached").waitFor();
    await page.unroute("**/pages.js");
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  }));
