// Chats on the server: found on another device, searched, renamed, exported, changed on two sides, and each user's own.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import type { Page } from "playwright-core";
import { launch, open } from "./browser";
import { amount, ask, on, phase } from "./harness";
import type { Mock } from "./mock/server";

/** Waits until the server has the chat with so many exchanges. */
async function kept(page: Page, mock: Mock, exchanges: number): Promise<void> {
  for (;;) {
    const all = [...mock.chats.values()];
    if (all.some((c) => (c.body as { exchanges: unknown[] }).exchanges.length === exchanges)) return;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

const menu = async (page: Page, title: string, item: string) => {
  await page.getByRole("button", { name: `More about “${title}”` }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

test("a chat is found, read and gone on with on another device", () =>
  on({ mock: { chats: true } }, async (page, mock) => {
    await ask(page, "hello from the first device");
    await phase(page, "done").waitFor();
    await kept(page, mock, 1);
    const browser = await launch();
    const other = await open(browser, mock.url);
    await other.page.getByRole("link", { name: "hello from the first device" }).click();
    await phase(other.page, "done").waitFor();
    await other.page.locator(".prose", { hasText: "I can find edges" }).waitFor();
    await ask(other.page, "hello from the second");
    await amount(other.page, '.exchange[data-phase="done"]', 2);
    await kept(other.page, mock, 2);
    other.verify();
    await browser.close();
    // The first one sees it when it is looked at again.
    await page.reload();
    await amount(page, ".exchange", 2);
  }));

test("what was asked on two sides at once is kept from both", () =>
  on({ mock: { chats: true }, allow: /409/ }, async (page, mock) => {
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    await kept(page, mock, 1);
    const [chat] = mock.chats.values();
    const body = chat!.body as { exchanges: { id: string; text: string; at: number }[] };
    const elsewhere = { ...body.exchanges[0]!, id: "elsewhere", text: "asked elsewhere", at: Date.now() };
    mock.chats.set(chat!.id, { ...chat!, version: 7, body: { exchanges: [...body.exchanges, elsewhere] } });
    await ask(page, "hello again");
    await kept(page, mock, 3);
    await amount(page, ".exchange", 3);
    assert.deepEqual(await page.locator(".bubble").allInnerTexts(), ["hello", "asked elsewhere", "hello again"]);
    assert.equal(mock.chats.get(chat!.id)?.version, 8);
  }));

test("chats are renamed, exported and deleted, on the server too", () =>
  on({ mock: { chats: true } }, async (page, mock) => {
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    await menu(page, "hello", "Rename");
    await page.getByRole("textbox", { name: "Rename" }).fill("A greeting");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "A greeting" }).waitFor();
    await page.waitForFunction(() => true);
    for (;;) {
      if ([...mock.chats.values()].some((c) => c.title === "A greeting")) break;
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    for (const [item, name, words] of [
      ["Export as Markdown", "A-greeting.md", "# A greeting"],
      ["Export as JSON", "A-greeting.json", '"title": "A greeting"'],
    ] as const) {
      const download = page.waitForEvent("download");
      await menu(page, "A greeting", item);
      const file = await download;
      assert.equal(file.suggestedFilename(), name);
      const text = await readFile(await file.path(), "utf8");
      assert.ok(text.includes(words) && text.includes("I can find edges"), text.slice(0, 200));
    }
    await menu(page, "A greeting", "Delete chat");
    await page.getByText("Nothing here yet").waitFor();
    while (mock.chats.size) await page.evaluate(() => new Promise(requestAnimationFrame));
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "A greeting" }).waitFor();
    await kept(page, mock, 1);
  }));

test("chats are searched in what the server has, which is listed part by part", () =>
  on({ mock: { chats: true } }, async (page, mock) => {
    for (let i = 0; i < 60; i++)
      mock.chats.set(`c${i}`, {
        id: `c${i}`,
        title: `chat number ${i}`,
        updated_ms: i,
        version: 1,
        body: { exchanges: [], note: `secret${i}x` },
      });
    await page.reload();
    await amount(page, ".chat-list a", 50);
    await page.getByRole("button", { name: "More", exact: true }).click();
    await amount(page, ".chat-list a", 60);
    await page.getByRole("searchbox", { name: "Search chats" }).fill("secret17x");
    await amount(page, ".chat-list a", 1);
    await page.getByRole("link", { name: "chat number 17" }).waitFor();
    await page.getByRole("searchbox", { name: "Search chats" }).fill("nowhere to be found");
    await page.getByText("No chat has these words").waitFor();
  }));

test("a server that keeps no chats is not asked for any", () =>
  on({}, async (page, mock) => {
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    await page.reload();
    await phase(page, "done").waitFor();
    assert.ok(!mock.calls.some((c) => c.path.startsWith("/chats")));
  }));

test("the chats of two users of one browser stay apart", () =>
  on({ mock: { user: "ada" } }, async (page, mock) => {
    await ask(page, "hello from ada");
    await phase(page, "done").waitFor();
    mock.options.user = "bob";
    await page.goto(mock.url);
    await page.reload();
    await page.getByText("Nothing here yet").waitFor();
    await ask(page, "hello from bob");
    await phase(page, "done").waitFor();
    mock.options.user = "ada";
    await page.goto(mock.url);
    await page.reload();
    await page.getByRole("link", { name: "hello from ada" }).waitFor();
    await amount(page, ".chat-list a", 1);
  }));
