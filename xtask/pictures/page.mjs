// Takes pictures of the web page of a running `jarvis serve`, in a headless Chromium: docs/images/page.png and plan.png.
// `cargo xtask pictures` runs it: node page.mjs URL OUT
import { createRequire } from "node:module";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const [url, out] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking"],
});
const context = await browser.newContext({
  locale: "en-GB",
  viewport: { width: 1280, height: 960 },
  colorScheme: "light",
  reducedMotion: "reduce",
});
const page = await context.newPage();
page.setDefaultTimeout(60_000);

async function ask(text) {
  await page.locator('input[type="file"]').first().setInputFiles(join(root, "examples/house.jpg"));
  await page.getByText("house.jpg").first().waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

async function picture(name) {
  const path = join(out, `${name}.png`);
  // Pictures of the answer have to be there, and no animation may be on its way.
  await page.evaluate(async () => {
    await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
    await Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {})));
  });
  await page.screenshot({ path });
  const size = statSync(path).size;
  if (size > 300_000) throw new Error(`${path} has ${size} bytes, more than 300,000`);
  console.log(`pictures: docs/images/${name}.png, ${Math.round(size / 1000)} kB`);
}

await page.goto(url);
await ask("find the edges of house.jpg, make the result half the size and tell me the main colours of house.jpg");
await page.locator('.exchange[data-phase="done"]').last().waitFor();
await picture("page");

await page.getByRole("button", { name: "New chat" }).click();
await page.getByRole("radio", { name: "Review plan" }).check();
await ask("find the edges of house.jpg and make the result half the size");
await page.locator(".plan").waitFor();
await picture("plan");
await browser.close();
