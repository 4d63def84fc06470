// Looks and safety: hostile text, languages, appearance, widths, names for screen readers, motion, scrolling, the API page.
import assert from "node:assert/strict";
import test from "node:test";
import { amount, ask, example, focused, node, noSideways, on, phase, stateOf } from "./harness";
import { shapes } from "./mock/media";
import { PAYLOADS } from "./mock/scripts";

test("hostile text stays text, wherever it comes from", () =>
  on({}, async (page) => {
    const name = `${PAYLOADS[0]}.png`;
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: name.replaceAll("/", ""), mimeType: "image/png", buffer: shapes() });
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
        media: [...document.querySelectorAll("img, audio, video")].filter(
          (i) => !/^(http:\/\/127|blob:)/.test((i as HTMLImageElement).src),
        ).length,
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

test("three languages, the choice is kept", () =>
  on({ locale: "ru-RU" }, async (page) => {
    await page.getByRole("heading", { name: "Что нужно сделать?" }).waitFor();
    assert.equal(await page.getAttribute("html", "lang"), "ru");
    await page.getByRole("radio", { name: "中文" }).check();
    await page.getByRole("heading", { name: "要我做什么？" }).waitFor();
    await example(page, 1).click();
    await phase(page, "done").waitFor();
    await node(page, 0).getByText("图片分割").waitFor();
    await page.reload();
    assert.equal(await page.getAttribute("html", "lang"), "zh-Hans");
    await page.getByRole("radio", { name: "English" }).check();
    await node(page, 0).getByText("Segment picture").waitFor(); // what is there already changes too
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

test("the reader who scrolls up is left alone", () =>
  on({ viewport: { width: 900, height: 420 } }, async (page, mock) => {
    await ask(page, "Make a report");
    await phase(page, "done").waitFor();
    const bottom = () =>
      page.evaluate(() => {
        const e = document.querySelector(".thread")!;
        return e.scrollHeight - e.scrollTop - e.clientHeight;
      });
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
    await page.waitForFunction(() => {
      const e = document.querySelector(".thread")!;
      return e.scrollHeight - e.scrollTop - e.clientHeight < 90;
    });
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
        [
          ...document.querySelectorAll<HTMLElement>(
            "button, a[href], input, select, textarea, img, dialog, [role=group], [role=radiogroup]",
          ),
        ]
          .filter((e) => e.getClientRects().length > 0 && !e.closest("[aria-hidden=true]"))
          .filter((e) => {
            const input = e as HTMLInputElement;
            return !(
              e.getAttribute("aria-label") ||
              e.getAttribute("alt") !== null ||
              e.textContent?.trim() ||
              e.querySelector("img[alt]:not([alt=''])") ||
              [...(input.labels ?? [])].some((l) => l.innerText.trim())
            );
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
    await page
      .getByRole("status")
      .getByText(/^Answer: Done as edited/)
      .waitFor();
    await page.getByRole("link", { name: "Skip to the message box" }).focus();
    await page.keyboard.press("Enter");
    await focused(page, "message");
  }));

test("who asks for less motion gets none", () =>
  on({ reducedMotion: "reduce" }, async (page, mock) => {
    mock.pace.held = true;
    await ask(page, "Segment, then edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    const longest = await page.evaluate(() =>
      Math.max(
        ...[...document.querySelectorAll("*")].map((e) => parseFloat(getComputedStyle(e).animationDuration) || 0),
      ),
    );
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
    await amount(page, ".operation", 1);
  }));

test("a large plan is shown whole when it is given the whole width", () =>
  on({ viewport: { width: 1440, height: 900 } }, async (page) => {
    await ask(page, "many");
    await phase(page, "done").waitFor();
    await amount(page, ".node", 16);
    const whole = () =>
      page.waitForFunction(() => {
        const box = document.querySelector(".graph")!.getBoundingClientRect();
        return [...document.querySelectorAll(".node")].every((e) => {
          const at = e.getBoundingClientRect();
          return at.left >= box.left && at.right <= box.right && at.top >= box.top && at.bottom <= box.bottom;
        });
      });
    await page.locator(".minimap").waitFor();
    const wide = page.getByRole("button", { name: "Large graph" });
    await wide.click();
    await page.locator(".exchange-wide").waitFor();
    await whole();
    await wide.click();
    await page.locator(".exchange-wide").waitFor({ state: "detached" });
  }));

test("the drawer takes the focus and gives it back", () =>
  on({ viewport: { width: 390, height: 780 } }, async (page) => {
    await page.getByRole("button", { name: "Menu" }).click();
    await page.waitForFunction(() => document.activeElement?.classList.contains("drawer-close"));
    assert.ok(await page.locator(".main").evaluate((e) => e.hasAttribute("inert")));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Menu");
  }));
