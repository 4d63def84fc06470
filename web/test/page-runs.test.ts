// Asking and watching: the live graph, details of tasks, stop, files, sounds. Against the mock server.
import assert from "node:assert/strict";
import test from "node:test";
import { amount, ask, attach, box, example, focused, node, on, phase, stateOf } from "./harness";
import { shapes } from "./mock/media";

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
    await page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLImageElement>(".gallery img")].every((i) => i.complete && i.naturalWidth > 0),
    );
    await amount(page, ".gallery img", 2);
    assert.match(
      await page.locator(".provenance").innerText(),
      /Offline planner · native\/graph-segmenter · native\/canny/,
    );
    await picture.click();
    await page.getByRole("dialog").getByRole("img").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const sent = mock.calls.find((c) => c.path === "/hugginggpt")?.body as { attachments: object[] };
    assert.deepEqual(Object.keys(sent.attachments[0] ?? {}), ["kind", "path", "name"]);
  }));

test("an example brings its own picture", () =>
  on({}, async (page, mock) => {
    await example(page, 0).click();
    await phase(page, "done").waitFor();
    assert.ok(mock.calls.some((c) => c.path === "/upload"));
    await page.waitForFunction(
      () => (document.querySelector<HTMLImageElement>(".file-picture img")?.naturalWidth ?? 0) === 960,
    );
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
    for (const wanted of [
      "Describe picture",
      "a house by a lake",
      "shapes.png",
      "Salesforce/blip-image-captioning-large",
      "Hugging Face",
      "Its description fits best",
      "nlpconnect/vit-gpt2-image-captioning",
      "microsoft/git-base-coco",
      "still loading",
      "210 ms",
    ])
      assert.ok(words.includes(wanted), wanted);
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    assert.equal(
      await page.evaluate(() => (document.activeElement as HTMLElement).dataset.task),
      "1",
      "the focus goes back",
    );
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

test("a run is stopped when the server says so, and not before", () =>
  on({}, async (page, mock) => {
    mock.pace.held = true;
    const cancels: (() => void)[] = (mock.pace.cancels = []);
    await ask(page, "Find the edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    await page.keyboard.press("Escape");
    await page.locator(".progress", { hasText: "Stopping…" }).waitFor();
    assert.ok(await page.getByRole("button", { name: "Stopping…" }).isDisabled());
    while (!cancels.length) await page.evaluate(() => new Promise(requestAnimationFrame));
    assert.equal(await page.locator(".stopped").count(), 0);
    assert.equal(await page.locator(".exchange").getAttribute("data-phase"), "running");
    cancels.shift()?.();
    await phase(page, "cancelled").waitFor();
    await page.locator(".stopped", { hasText: "Stopped" }).waitFor();
    // One that ends before it can be stopped shows its result.
    await ask(page, "Find the edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    await page.keyboard.press("Escape");
    await page.locator(".progress", { hasText: "Stopping…" }).waitFor();
    mock.pace.free();
    await phase(page, "done").waitFor();
    assert.equal(await page.locator(".exchange").last().locator(".stopped").count(), 0);
  }));

test("a stop is told to the server, and keeps what was done", () =>
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
    assert.equal(mock.runs[0]?.status, "cancelled");
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

test("files are dropped anywhere and pasted; a refused one says why", () =>
  on({ allow: /413/ }, async (page) => {
    const transfer = await page.evaluateHandle(
      (bytes) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], "dropped.png", { type: "image/png" }));
        return data;
      },
      [...shapes()],
    );
    await page.dispatchEvent(".thread", "dragenter", { dataTransfer: transfer });
    await page.getByText("Drop to attach").waitFor();
    await page.dispatchEvent(".thread", "drop", { dataTransfer: transfer });
    await page.locator(".upload-ready", { hasText: "dropped.png" }).waitFor();
    await page.evaluate(
      (bytes) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], "pasted.png", { type: "image/png" }));
        document
          .getElementById("message")
          ?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      },
      [...shapes()],
    );
    await page.locator(".upload-ready", { hasText: "pasted.png" }).waitFor();
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "too-large.png", mimeType: "image/png", buffer: shapes() });
    await page.locator(".upload-failed", { hasText: "larger than 32 MB" }).waitFor();
    await page.getByRole("button", { name: "Remove too-large.png" }).click();
    await ask(page, "Find the edges");
    await phase(page, "done").waitFor();
    await amount(page, ".file-picture", 2);
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
    await focused(page, "message");
    assert.equal(await box(page).inputValue(), "hello\nagain");
  }));

test("an edit loses nothing until it is sent, and can be taken back", () =>
  on({}, async (page, mock) => {
    await attach(page, "first.png");
    await ask(page, "Find the edges");
    await phase(page, "done").waitFor();
    await ask(page, "hello");
    await page.locator('.exchange[data-phase="done"]').nth(1).waitFor();
    await box(page).fill("not sent yet");
    await attach(page, "waiting.png");
    const edit = page.getByRole("button", { name: "Edit" });
    const said = (text: string) =>
      page.waitForFunction((x) => (document.getElementById("message") as HTMLTextAreaElement).value === x, text);
    for (const end of ["Escape", "Cancel"]) {
      await edit.first().click();
      await page.locator(".editing").waitFor();
      await said("Find the edges");
      await page.locator(".upload", { hasText: "first.png" }).waitFor();
      await amount(page, ".upload", 1);
      if (end === "Escape") await page.keyboard.press(end);
      else await page.getByRole("button", { name: end, exact: true }).click();
      await said("not sent yet");
      await page.locator(".upload", { hasText: "waiting.png" }).waitFor();
      await amount(page, ".exchange", 2);
      await amount(page, ".editing", 0);
    }
    await edit.last().click();
    await said("hello");
    await amount(page, ".upload", 0);
    await edit.first().click();
    await said("Find the edges");
    await ask(page, "Segment, then edges");
    await amount(page, ".exchange", 1);
    await phase(page, "done").waitFor();
    await said("not sent yet");
    const sent = mock.calls.filter((c) => c.path === "/hugginggpt").at(-1)?.body as {
      messages: object[];
      attachments: { name: string }[];
    };
    assert.equal(sent.messages.length, 1, "what was replaced is not told");
    assert.equal(sent.attachments[0]?.name, "first.png");
    await page.getByRole("button", { name: "Undo" }).click();
    await amount(page, ".exchange", 2);
    assert.match(await page.locator(".bubble").first().innerText(), /Find the edges/);
    await page.getByRole("link", { name: "Find the edges" }).waitFor();
    await page.reload();
    await amount(page, ".exchange", 2);
  }));

test("sounds get a player, sentiment its figures", () =>
  on({}, async (page) => {
    await example(page, 4).click();
    await phase(page, "done").waitFor();
    await page.waitForFunction(() => (document.querySelector("audio")?.duration ?? 0) > 0.9);
    await ask(page, "the mood of this text: fine");
    await page.locator('.exchange[data-phase="done"]').nth(1).waitFor();
    await node(page, 0).click();
    await page.locator(".inspector").getByText("87.9%").waitFor();
  }));

test("a run chooses its pipeline where there is a choice, and the choice is kept", () =>
  on({ mock: { planner: "llm", pipelines: ["hugginggpt", "rewoo"] } }, async (page, mock) => {
    const choice = page.getByRole("combobox", { name: "Pipeline" });
    const paths = () =>
      mock.calls.map((c) => c.path).filter((path) => path === "/hugginggpt" || path.endsWith("/rewoo/runs"));
    await choice.waitFor();
    assert.equal(await choice.inputValue(), "hugginggpt");
    await ask(page, "Find the edges");
    await phase(page, "done").waitFor();
    await choice.selectOption("rewoo");
    await ask(page, "Find the edges again");
    await amount(page, '.exchange[data-phase="done"]', 2);
    await page.reload();
    await choice.waitFor();
    assert.equal(await choice.inputValue(), "rewoo");
    await page.getByRole("button", { name: "Try again" }).last().click();
    await phase(page, "done").waitFor();
    assert.deepEqual(paths(), ["/hugginggpt", "/pipelines/rewoo/runs", "/pipelines/rewoo/runs"]);
    await page.getByRole("radio", { name: "Plan only" }).check();
    await choice.waitFor({ state: "detached" });
  }));

test("without a choice of pipelines none is shown", () =>
  on({}, async (page) => {
    await ask(page, "Find the edges");
    await phase(page, "done").waitFor();
    await amount(page, ".pick", 0);
  }));

test("a call that changes something waits for the person, who sees what and from where", () =>
  on({}, async (page, mock) => {
    await ask(page, "reserve article 17");
    const card = page.locator(".leave");
    await card.waitFor();
    const words = await card.innerText();
    for (const wanted of ["Task 1", "shop/reserve", "article", "17", "the request"])
      assert.ok(words.includes(wanted), wanted);
    await card.getByRole("button", { name: "Change the arguments" }).click();
    await card.getByText("Puts an article aside for three days").waitFor();
    const article = card.getByLabel("article");
    await article.fill("eighteen");
    await card.getByText("That is not a number").waitFor();
    assert.ok(await card.getByRole("button", { name: "Allow" }).isDisabled(), "nothing is sent of the wrong type");
    await article.fill("18");
    await card.getByLabel("size").selectOption("M");
    await card.getByLabel("gift").selectOption("Yes");
    await card.getByRole("button", { name: "Allow" }).click();
    await phase(page, "done").waitFor();
    await card.waitFor({ state: "detached" });
    const sent = mock.calls.find((c) => c.path.includes("/approvals/"))?.body;
    assert.deepEqual(sent, { decision: "approve", arguments: { article: 18, size: "M", gift: true } });
  }));

test("what the person refuses is not done, and the reason is told", () =>
  on({}, async (page, mock) => {
    await ask(page, "reserve article 17");
    const card = page.locator(".leave");
    await card.getByRole("button", { name: "Refuse" }).click();
    await card.getByRole("textbox").fill("too dear");
    await card.getByRole("button", { name: "Refuse" }).click();
    await stateOf(page, 0, "failed");
    const sent = mock.calls.find((c) => c.path.includes("/approvals/"))?.body;
    assert.deepEqual(sent, { decision: "refuse", reason: "too dear" });
  }));

test("a run that was cut off asks about the call that may have arrived, and says what was taken over", () =>
  on({ allow: /ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION/ }, async (page, mock) => {
    const card = page.locator(".leave");
    const answers = () =>
      mock.calls.filter((c) => c.path.includes("/approvals/")).map((c) => (c.body as { decision: string }).decision);
    for (const [at, where, words, decision, state] of [
      [1, "the chat", "It was done", "done", "succeeded"],
      [2, "the chat anew", "Call it again", "retry", "succeeded"],
      [3, "the run", "Go on without it", "skip", "failed"],
    ] as const) {
      await ask(page, "book a train");
      await card.getByRole("button", { name: "Allow" }).click();
      await card.waitFor({ state: "detached" });
      const id = mock.runs[0]?.id ?? "";
      mock.restart();
      await card.getByRole("heading", { name: /it may have been done/ }).waitFor();
      if (where === "the chat anew") await page.reload();
      if (where === "the run") await page.goto(`${mock.url}/#/runs/${id}`);
      // It is told how far the run had come, and what may have been done with what.
      const run = page.locator(`[data-run="${id}"]`);
      await run
        .locator(".taken-over")
        .getByText("This run was cut off and went on. Steps that were not done again: 2")
        .waitFor();
      assert.match(await card.innerText(), /Task 2 called trains\/book[^]*train[^]*17[^]*task 1/, where);
      assert.deepEqual(
        await card.getByRole("button").allInnerTexts(),
        ["It was done", "Call it again", "Go on without it"],
        where,
      );
      await card.getByRole("button", { name: words }).click();
      await page.locator(`[data-run="${id}"][data-phase="done"]`).waitFor();
      await card.waitFor({ state: "detached" });
      await run.locator(`[data-task="1"][data-state="${state}"]`).waitFor();
      assert.deepEqual(answers().slice(2 * at - 2), ["approve", decision], where);
      await amount(page, ".taken-over", where === "the run" ? 1 : at);
    }
    assert.equal(mock.calls.filter((c) => c.path === "/hugginggpt").length, 3, "nothing is asked anew");
  }));
