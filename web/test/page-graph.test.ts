// The graph: fitted, followed, zoomed and moved by mouse, fingers and keys, at any size.
import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { amount, ask, node, on, phase } from "./harness";

/** Whether a node can be seen whole inside the graph's box. */
const inSight = (page: Page, id: number) =>
  page.waitForFunction((n) => {
    const box = document.querySelector(".graph")?.getBoundingClientRect();
    const at = document.querySelector(`.node[data-task="${n}"]`)?.getBoundingClientRect();
    return (
      !!box &&
      !!at &&
      at.left >= box.left - 1 &&
      at.right <= box.right + 1 &&
      at.top >= box.top - 1 &&
      at.bottom <= box.bottom + 1
    );
  }, id);

const scaleOf = (page: Page) =>
  page.evaluate(() => new DOMMatrix(getComputedStyle(document.querySelector(".graph-scale")!).transform).a);
const placeOf = (page: Page) =>
  page.evaluate(() => {
    const { e, f } = new DOMMatrix(getComputedStyle(document.querySelector(".graph-scale")!).transform);
    return [Math.round(e), Math.round(f)];
  });
/** Waits until the graph stands still. */
const still = (page: Page) =>
  page.evaluate(() =>
    Promise.all(
      document
        .querySelector(".graph-scale")!
        .getAnimations()
        .map((a) => a.finished),
    ),
  );

async function large(page: Page): Promise<void> {
  await ask(page, "many");
  await phase(page, "done").waitFor();
  await amount(page, ".node", 16);
}

test("a large graph is readable at first, shown whole on request, and larger by buttons, wheel and keys", () =>
  on({ viewport: { width: 1280, height: 700 } }, async (page) => {
    await large(page);
    await still(page);
    assert.ok((await scaleOf(page)) >= 0.8, "the words can be read");
    await page.locator(".minimap").waitFor();
    await page.getByRole("button", { name: "Whole graph" }).click();
    await still(page);
    for (const id of [0, 7, 15]) await inSight(page, id);
    assert.equal(await page.locator(".minimap").count(), 0);
    const whole = await scaleOf(page);
    await page.getByRole("button", { name: "Larger" }).click();
    const larger = await scaleOf(page);
    assert.ok(larger > whole);
    await page.getByRole("button", { name: "Smaller" }).click();
    assert.ok((await scaleOf(page)) < larger);
    await page.locator(".graph").hover();
    await page.mouse.wheel(0, -300);
    await page.waitForFunction(
      (s) => new DOMMatrix(getComputedStyle(document.querySelector(".graph-scale")!).transform).a > s,
      larger,
    );
    await node(page, 0).focus();
    await page.keyboard.press("0");
    await still(page);
    await inSight(page, 15);
    await page.keyboard.press("+");
    assert.ok((await scaleOf(page)) > whole);
  }));

test("a graph is moved by the mouse and by its map, and what was moved is not clicked", () =>
  on({ viewport: { width: 1280, height: 700 } }, async (page) => {
    await large(page);
    await still(page);
    const before = await placeOf(page);
    const first = (await node(page, 1).boundingBox())!;
    await page.mouse.move(first.x + 20, first.y + 20);
    await page.mouse.down();
    await page.mouse.move(first.x - 40, first.y - 60, { steps: 5 });
    await page.mouse.up();
    assert.deepEqual(await placeOf(page), [before[0]! - 60, before[1]! - 80]);
    await amount(page, ".inspector", 0);
    const map = (await page.locator(".minimap").boundingBox())!;
    await page.mouse.click(map.x + map.width - 4, map.y + map.height - 4);
    await inSight(page, 15);
    await node(page, 15).click();
    await page.locator(".inspector").waitFor();
    await inSight(page, 15);
  }));

test("the graph follows what runs, until the reader moves it", () =>
  on({ viewport: { width: 1280, height: 620 } }, async (page, mock) => {
    mock.pace.held = true;
    await ask(page, "many");
    await mock.pace.next();
    for (let done = 0; done < 12; done++) await mock.pace.next();
    await page.locator('.node[data-task="12"][data-state="running"]').waitFor();
    const running = await page.evaluate(() =>
      Number(document.querySelector<HTMLElement>(".node.is-running")!.dataset.task),
    );
    await inSight(page, running);
    await still(page);
    const { x, y } = (await page.locator(".graph").boundingBox())!;
    await page.mouse.move(x + 30, y + 30);
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 130, { steps: 4 });
    await page.mouse.up();
    const moved = await placeOf(page);
    mock.pace.free();
    await phase(page, "done").waitFor();
    assert.deepEqual(await placeOf(page), moved);
    await page.getByRole("button", { name: "Readable size" }).click();
    await still(page);
    assert.notDeepEqual(await placeOf(page), moved);
  }));

test("the arrow keys bring each task into sight, on a phone too", () =>
  on({ viewport: { width: 390, height: 780 }, hasTouch: true }, async (page) => {
    await large(page);
    await node(page, 0).focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowRight"]) {
      await page.keyboard.press(key);
      const id = await page.evaluate(() => Number((document.activeElement as HTMLElement).dataset.task));
      assert.ok(Number.isInteger(id), "a task has the focus");
      await inSight(page, id);
    }
  }));

test("two fingers make the graph larger, one moves it", () =>
  on({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }, async (page, _mock, at) => {
    await large(page);
    await page.locator(".graph").scrollIntoViewIfNeeded();
    await still(page);
    const box = (await page.locator(".graph").boundingBox())!;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 3];
    const touch = await at.context.newCDPSession(page);
    const send = (type: "touchStart" | "touchMove" | "touchEnd", ...points: [number, number][]) =>
      touch.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })),
      });
    const before = await scaleOf(page);
    await send("touchStart", [x - 20, y], [x + 20, y]);
    for (const d of [30, 40, 50, 60]) await send("touchMove", [x - d, y], [x + d, y]);
    await send("touchEnd");
    assert.ok((await scaleOf(page)) > before * 1.3, `${before} → ${await scaleOf(page)}`);
    const place = await placeOf(page);
    await send("touchStart", [x, y]);
    for (const d of [10, 30, 50]) await send("touchMove", [x + d, y + d]);
    await send("touchEnd");
    assert.notDeepEqual(await placeOf(page), place);
  }));
