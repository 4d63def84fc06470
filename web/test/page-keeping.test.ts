// What lasts and what breaks: history, storage, reloads, lost connections, errors, log-in, the list of runs.
import assert from "node:assert/strict";
import test from "node:test";
import { amount, ask, attach, box, example, on, phase, stateOf } from "./harness";

test("chats are kept, can be deleted and taken back, and the talk before goes along", () =>
  on({}, async (page, mock) => {
    await ask(page, "hello there");
    await phase(page, "done").waitFor();
    await ask(page, "Find the edges");
    await phase(page, "done").waitFor();
    const bodies = mock.calls
      .filter((c) => c.path === "/hugginggpt")
      .map((c) => (c.body as { messages: { role: string }[] }).messages.map((m) => m.role).join());
    assert.deepEqual(bodies, ["user", "user,assistant,user"]);
    await page.reload();
    await phase(page, "done").waitFor();
    await amount(page, ".exchange", 2);
    await stateOf(page, 1, "succeeded");
    await page.getByRole("button", { name: "New chat" }).first().click();
    await example(page, 0).waitFor();
    await page.getByRole("link", { name: "hello there" }).hover();
    await page.getByRole("button", { name: "More about “hello there”" }).click();
    await page.getByRole("menuitem", { name: "Delete chat" }).click();
    await page.getByText("Nothing here yet").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "hello there" }).click();
    await page.locator(".exchange").nth(1).waitFor();
  }));

const LONG = "A long report, line by line.\n".repeat(1000);

test("a long text is sent again whole or not at all", () =>
  on({}, async (page, mock, at) => {
    const file = { name: "report.txt", mimeType: "text/plain", buffer: Buffer.from(LONG) };
    await page.locator('input[type="file"]').setInputFiles(file);
    await page.locator(".upload-ready").waitFor();
    await ask(page, "Tell the mood");
    await phase(page, "done").waitFor();
    // Another tab knows only what is kept; what it writes must not cost this one the rest.
    await page.waitForFunction(() =>
      Object.entries(localStorage).some(([k, v]) => k.includes(".chat.") && String(v).includes('"phase":"done"')),
    );
    const other = await at.context.newPage();
    await other.goto(page.url());
    await ask(other, "hello");
    await phase(other, "done").waitFor();
    await amount(page, ".exchange", 2);
    await other.close();
    const again = page.getByRole("button", { name: "Try again" }).first();
    const asked = page.waitForRequest((r) => r.url().endsWith("/hugginggpt"));
    await again.click();
    const body = (await asked).postDataJSON() as { attachments: { text: string }[] };
    assert.equal(body.attachments[0]?.text, LONG);
    await page.locator('.exchange[data-phase="done"]').nth(1).waitFor();
    const sent = mock.runs.length;
    await page.reload();
    await again.click();
    await page.locator(".notice", { hasText: "Of report.txt this browser kept only the beginning" }).waitFor();
    await page.getByRole("button", { name: "Edit" }).first().click();
    await page.locator(".upload-failed", { hasText: "attach it again" }).waitFor();
    assert.equal(await box(page).inputValue(), "Tell the mood");
    assert.equal(mock.runs.length, sent, "nothing was sent in part");
  }));

test("a reviewed plan with a long text runs whole or not at all", () =>
  on({}, async (page, mock) => {
    const file = { name: "report.txt", mimeType: "text/plain", buffer: Buffer.from(LONG) };
    await page.getByRole("radio", { name: "Review plan" }).check();
    await page.locator('input[type="file"]').setInputFiles(file);
    await page.locator(".upload-ready").waitFor();
    await ask(page, "Tell the mood");
    await page.locator(".plan").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Run this plan" }).click();
    await page.locator(".notice", { hasText: "report.txt" }).waitFor();
    await page.locator(".plan").waitFor();
    assert.equal(mock.runs.length, 0);
  }));

test("a long request is sent again whole or not at all", () =>
  on({}, async (page, mock) => {
    await ask(page, LONG);
    await phase(page, "done").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".notice", { hasText: "only the beginning of the request" }).waitFor();
    assert.equal(mock.runs.length, 1);
    assert.equal(mock.runs[0]?.request, LONG.trim());
  }));

test("a follow-up names an earlier picture by its path, and does not attach it again", () =>
  on({}, async (page, mock) => {
    await attach(page, "house.png");
    await ask(page, "Find the edges of house.png");
    await phase(page, "done").waitFor();
    await ask(page, "and its colours in house.png?");
    await page.locator('.exchange[data-phase="done"]').nth(1).waitFor();
    const [first, second] = mock.calls
      .filter((c) => c.path === "/hugginggpt")
      .map((c) => c.body as { messages: { content: string }[]; attachments?: { path: string }[] });
    const path = first?.attachments?.[0]?.path ?? "no path";
    assert.equal(second?.messages[0]?.content, `Find the edges of ${path}`);
    assert.equal(second?.messages[2]?.content, `and its colours in ${path}?`);
    assert.equal(second?.attachments, undefined);
  }));

test("rubbish in the browser's storage is no obstacle", () =>
  on({}, async (page) => {
    await page.evaluate(() => {
      for (const [key, value] of [
        ["jarvis.1.chat.a", "{broken"],
        [
          "jarvis.1.chat.b",
          '{"id":"b","exchanges":[{"id":1},null,{"id":"x","mode":"run","run":{"phase":"done","tasks":[null,{"selection":{"fallbacks":3}}],"config":{"tasks":"no"}}}]}',
        ],
        ["jarvis.1.chat.c", '{"id":"other","exchanges":[]}'],
        ["jarvis.1.settings", '{"theme":5,"language":"constructor"}'],
        ["unrelated", "kept"],
      ] as const)
        localStorage.setItem(key, value);
    });
    await page.reload();
    await page.getByRole("link", { name: "Untitled" }).click();
    await page.locator(".exchange").waitFor();
    assert.deepEqual(
      await page.evaluate(() =>
        Object.keys(localStorage)
          .filter((k) => k !== "jarvis.1.settings")
          .sort(),
      ),
      ["jarvis.1.chat.b", "unrelated"],
    );
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
    assert.ok(joined.length >= 2, "the stream was opened anew");
    assert.match(joined.at(-1)?.search ?? "", /run=[\w-]+@\d+$/, "from behind what was seen");
    assert.equal(mock.runs.length, 1);
  }));

test("an error is a message with a way on", () =>
  on({ allow: /503|ERR_/ }, async (page, mock, at) => {
    mock.failNext(
      "/hugginggpt",
      503,
      { error: { code: "busy", message: "The queue is full", hint: "Wait" } },
      { "retry-after": "9" },
    );
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

test("an error that ends a run is told plainly, in three languages", () =>
  on({ allow: /503/ }, async (page, mock) => {
    await ask(page, "this is refused");
    const alert = page.getByRole("alert");
    await alert.getByText("Access was refused").waitFor();
    const words = await alert.innerText();
    for (const part of ["invalid_api_key", "Set OPENAI_API_KEY", "unauthorized"]) assert.ok(words.includes(part), part);
    assert.equal(await alert.getByRole("button").count(), 0, "the same again would be refused again");
    await page.locator("label", { has: page.getByRole("radio", { name: "Русский" }) }).click();
    await alert.getByText("Доступ не дан").waitFor();
    await page.locator("label", { has: page.getByRole("radio", { name: "中文" }) }).click();
    await alert.getByText("访问被拒绝").waitFor();
    await page.locator("label", { has: page.getByRole("radio", { name: "English" }) }).click();
    mock.failNext("/hugginggpt", 503, { error: { code: "overloaded", message: "32 runs wait already" } });
    await page.getByRole("button", { name: "New chat" }).first().click();
    await ask(page, "hello");
    await alert.getByText("too much to do right now").waitFor();
    await alert.getByText("32 runs wait already").waitFor();
    await alert.getByRole("button", { name: "Try again" }).click();
    await phase(page, "done").waitFor();
  }));

test("a server with a token asks for it, and goes on where it was", () =>
  on({ mock: { token: "open sesame" }, allow: /401/ }, async (page, mock) => {
    const dialog = page.getByRole("dialog");
    const out = page.getByRole("button", { name: "Log out" });
    await dialog.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await dialog.getByText("does not take this token").waitFor();
    assert.equal(await out.count(), 0, "who is not in cannot go out");
    await dialog.getByLabel("Token").fill("open sesame");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await out.waitFor();
    await example(page, 0).click();
    await phase(page, "done").waitFor();
    assert.equal(mock.runs.length, 1);
    assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage))).includes("sesame"), "the token is not kept");
    await page.reload();
    await out.waitFor();
    assert.equal(await dialog.count(), 0, "who is in is not asked");
    await Promise.all([page.waitForEvent("load"), out.click()]);
    await dialog.getByLabel("Token").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("navigation").getByRole("button", { name: "Log in" }).waitFor();
    await ask(page, "hello");
    await dialog.getByLabel("Token").waitFor();
    await page.keyboard.press("Escape");
    const refused = page.locator(".error-bubble", { hasText: "needs a token" });
    await refused.getByRole("button", { name: "Log in" }).click();
    await dialog.getByLabel("Token").fill("open sesame");
    await page.keyboard.press("Enter");
    await page.locator(".prose", { hasText: "Hello. I can" }).waitFor();
    await out.waitFor();
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
    await page.getByRole("cell", { name: "Stopped" }).waitFor();
    await page.locator(".status-cancelled .mark-cancelled").waitFor();
    await page.getByRole("link", { name: /Open run “Find/ }).click();
    await phase(page, "cancelled").waitFor();
    await page.locator(".stopped", { hasText: "Stopped" }).waitFor();
    await page.goBack();
    const [stoppedRun] = mock.runs;
    if (stoppedRun) (stoppedRun as { status: string }).status = "mothballed";
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("cell", { name: "Unknown" }).waitFor();
    await page.getByRole("link", { name: /Open run “Find/ }).click();
    await phase(page, "cancelled").waitFor();
    await page.goBack();
    await page.getByRole("searchbox", { name: "Filter runs" }).fill("segment");
    await amount(page, ".runs tbody tr", 1);
    await page.getByRole("link", { name: /Open run “Segment/ }).click();
    await stateOf(page, 1, "succeeded");
    assert.match(await page.locator(".answer").innerText(), /three regions/);
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll<HTMLImageElement>(".gallery img, .file-picture img")].filter(
          (i) => i.naturalWidth > 0,
        ).length === 3,
    );
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

test("the store makes room for what is new", () =>
  on({}, async (page) => {
    await page.evaluate(() => {
      for (let i = 0; i < 40; i++)
        localStorage.setItem(
          `jarvis.1.chat.old${i}`,
          JSON.stringify({
            id: `old${i}`,
            title: `old ${i}`,
            updated: 1000 + i,
            exchanges: [{ id: "x", mode: "run", text: "y".repeat(90_000), run: { phase: "done", text: "z" } }],
          }),
        );
    });
    await page.reload();
    await ask(page, "hello");
    await phase(page, "done").waitFor();
    await page.reload();
    await phase(page, "done").waitFor();
    const kept = await page.evaluate(() => ({
      size: Object.keys(localStorage).reduce((n, k) => n + (localStorage.getItem(k)?.length ?? 0), 0),
      first: localStorage.getItem("jarvis.1.chat.old0"),
      last: localStorage.getItem("jarvis.1.chat.old39"),
    }));
    assert.ok(kept.size < 3_100_000, `${kept.size} characters`);
    assert.equal(kept.first, null, "the oldest went");
    assert.ok(kept.last, "the newer stayed");
  }));

test("the page says where requests may go and what is kept, as the server's health has it", () =>
  on({}, async (page) => {
    await page.locator(".server-line", { hasText: "tasks stay on this machine" }).waitFor();
    await page
      .locator(".side-empty", { hasText: "the server keeps requests, answers and events, files, and request logs" })
      .waitFor();
    await page.locator(".side-empty", { hasText: "/srv/jarvis" }).waitFor();
  }));

test("hosts and warnings are named", () =>
  on(
    {
      mock: {
        reach: [
          { kind: "planning", hosts: ["this machine"] },
          { kind: "summarization", hosts: ["this machine", "router.huggingface.co", "program files"] },
        ],
        warnings: ["the description of `files/read` changed"],
      },
    },
    async (page) => {
      const line = page.locator(".server-line", {
        hasText: "requests may go to router.huggingface.co and the program",
      });
      await line.waitFor();
      assert.doesNotMatch(await line.innerText(), /stay on this machine/);
      await page.locator(".server-line", { hasText: "tool warnings: 1" }).waitFor();
      await line.click();
      await page.locator(".server-reach li", { hasText: "router.huggingface.co" }).waitFor();
      await page.locator(".server-warnings li", { hasText: "files/read" }).waitFor();
    },
  ));
