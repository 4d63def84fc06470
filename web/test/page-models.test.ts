// The models on the server's machine: what is kept, what would help, and pulling by administrators.
import assert from "node:assert/strict";
import test from "node:test";
import { amount, noSideways, on } from "./harness";

const path = "/#/models";

test("kept models are shown with what is in memory, and what would help with the command", () =>
  on({ path }, async (page) => {
    const detect = page.locator('[data-model="Xenova/detr-resnet-50"]');
    await detect.getByText("Find objects").waitFor();
    await detect.getByText("in memory, 180 MB").waitFor();
    await page.locator('[data-model="caption"]').getByText("jarvis models pull caption").waitFor();
    await page.getByText("JARVIS_ADMIN_TOKEN").waitFor();
    await amount(page, "form", 0);
    assert(await noSideways(page));
    await page.getByRole("link", { name: "Models" }).first().waitFor();
  }));

test("an administrator sees what a pull is, pulls, stops and goes on", () =>
  on({ path, mock: { admin: "chief" }, allow: /40[03]/ }, async (page, mock) => {
    await page.getByRole("button", { name: "Pull: huge" }).waitFor();
    assert(await page.getByRole("button", { name: "Pull: huge" }).isDisabled());
    await page.getByRole("button", { name: "Pull: caption" }).click();
    const dialog = page.getByRole("dialog", { name: "Pull caption" });
    await dialog.getByLabel("Administrator's token").fill("guess");
    await page.keyboard.press("Enter");
    await dialog.getByText("does not take this token").waitFor();
    await dialog.getByLabel("Administrator's token").fill("chief");
    await page.keyboard.press("Enter");
    for (const text of ["mit", "250 MB", "50 GB free on the disk", "Describe picture"])
      await dialog.getByText(text).first().waitFor();
    mock.pace.held = true;
    await dialog.getByRole("button", { name: "Pull" }).click();
    await dialog.getByText("100 MB of 250 MB").waitFor();
    await dialog.getByRole("button", { name: "Stop" }).click();
    await dialog.getByRole("button", { name: "Pull" }).click();
    await dialog.getByText("100 MB of 250 MB").waitFor();
    mock.releasePull();
    await page.locator('[data-model="org/caption"]').getByText("not loaded").waitFor();
    await amount(page, '[data-model="caption"]', 0);
    assert(!(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).includes("chief"));
    // The token is known for the next one; what is unknown is told.
    await page.getByLabel("Another one").fill("no-such");
    await page.keyboard.press("Enter");
    await page.getByText("unknown model").waitFor();
    await page.keyboard.press("Escape");
    await amount(page, "dialog", 0);
  }));
