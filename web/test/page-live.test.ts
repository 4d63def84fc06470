// Following runs: one stream of events for a whole browser, whichever way its tabs reach each other.
import assert from "node:assert/strict";
import test from "node:test";
import { ask, on, phase, stateOf } from "./harness";

/** What a browser lacks, so that the tabs have to find another way. */
const WAYS: Record<string, string[]> = {
  "a shared worker": [],
  "the tab that leads": ["SharedWorker"],
  "each tab for itself": ["SharedWorker", "BroadcastChannel"],
};

for (const [way, lacks] of Object.entries(WAYS))
  test(`six live tabs do not keep a seventh waiting: ${way}`, () =>
    on({}, async (first, mock, at) => {
      const own = lacks.includes("BroadcastChannel");
      await at.context.addInitScript((names) => {
        for (const name of names) Reflect.deleteProperty(globalThis, name);
      }, lacks);
      await first.reload();
      mock.pace.held = true;
      const tabs = [first];
      // A browser opens six connections to a server: as many streams would leave none.
      for (let i = 1; i < (own ? 3 : 7); i++) {
        const tab = await at.context.newPage();
        await tab.goto(first.url());
        tabs.push(tab);
      }
      for (const tab of tabs) {
        await ask(tab, "Segment, then edges");
        await phase(tab, "planning").waitFor();
      }
      mock.pace.release();
      for (const tab of tabs) await stateOf(tab, 0, "running");
      assert.equal(mock.openStreams(), own ? tabs.length : 1);
      assert.equal(mock.calls.filter((c) => c.path.startsWith("/runs/")).length, 0, "no run is followed by itself");
      // The tab that may lead goes; the others are followed on, and lose nothing.
      await first.close();
      mock.pace.free();
      for (const tab of tabs.slice(1)) await phase(tab, "done").waitFor();
      for (const tab of tabs.slice(1)) {
        await stateOf(tab, 0, "succeeded");
        await stateOf(tab, 1, "succeeded");
        await tab.close();
      }
    }));

test("a server without the stream for many is followed run by run", () =>
  on({ mock: { old: true }, allow: /404/ }, async (page, mock) => {
    mock.pace.held = true;
    await ask(page, "Segment, then edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    mock.pace.free();
    await phase(page, "done").waitFor();
    assert.ok(mock.calls.some((c) => c.path === `/runs/${mock.runs[0]?.id}/events`));
  }));

test("a run that is no longer there says so", () =>
  on({}, async (page, mock) => {
    mock.pace.held = true;
    await ask(page, "Segment, then edges");
    await mock.pace.next();
    await stateOf(page, 0, "running");
    mock.runs.splice(0);
    await page.reload();
    await page.getByRole("alert").getByText("not_found").waitFor();
  }));
