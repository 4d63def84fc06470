// Takes pictures of the page in many states, to be looked at: `npm run shots`, into the folder named by SHOTS.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { launch, open } from "./browser";
import { shapes } from "./mock/media";
import { startMock } from "./mock/server";

const out = process.env.SHOTS ?? "test/.out/shots";
const only = process.env.ONLY;
await mkdir(out, { recursive: true });
const dist = join(process.cwd(), "dist");
const browser = await launch();
const sizes = { desktop: { width: 1360, height: 900 }, phone: { width: 390, height: 844 } } as const;

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: /Message|Сообщение|消息/ }).fill(text);
  await page.keyboard.press("Enter");
}

const done = (page: Page) => page.locator('.exchange[data-phase="done"]').last().waitFor();

type Scene = {
  name: string;
  sizes?: (keyof typeof sizes)[];
  schemes?: ("light" | "dark")[];
  locale?: string;
  planner?: "llm" | "offline";
  token?: string;
  admin?: string;
  path?: string;
  act: (page: Page, mock: Awaited<ReturnType<typeof startMock>>) => Promise<void>;
};

const settle = (page: Page) => page.waitForTimeout(500);

const scenes: Scene[] = [
  {
    name: "models",
    path: "/#/models",
    admin: "chief",
    act: async (page) => {
      await page.getByRole("button", { name: "Pull: caption" }).click();
      await page.getByLabel("Administrator's token").fill("chief");
      await page.keyboard.press("Enter");
      await page.getByText("50 GB").waitFor();
    },
  },
  {
    name: "models-list",
    path: "/#/models",
    act: async (page) => void (await page.getByText("jarvis models pull caption").waitFor()),
  },
  { name: "welcome", act: async (page) => void (await page.getByRole("heading", { level: 1 }).waitFor()) },
  {
    name: "welcome-ru",
    schemes: ["light"],
    locale: "ru-RU",
    act: async (page) => void (await page.getByRole("heading", { level: 1 }).waitFor()),
  },
  {
    name: "welcome-zh",
    schemes: ["dark"],
    locale: "zh-CN",
    act: async (page) => void (await page.getByRole("heading", { level: 1 }).waitFor()),
  },
  {
    name: "done",
    act: async (page) => {
      await page.locator(".example").first().click();
      await done(page);
    },
  },
  {
    name: "data",
    path: "/#/data",
    act: async (page) => void (await page.locator(".figures").waitFor()),
  },
  {
    name: "tools",
    path: "/#/tools",
    act: async (page) => void (await page.locator(".tools").first().waitFor()),
  },
  {
    name: "documents",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      await page
        .locator('input[type="file"]')
        .setInputFiles({ name: "report.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4") });
      await ask(page, "Where is the head office?");
      await page.locator(".table-file table").waitFor();
    },
  },
  {
    name: "editor",
    act: async (page) => {
      await page.getByRole("radio", { name: "Review plan" }).check();
      await ask(page, "Segment this picture, then find the edges");
      await page.locator(".plan").waitFor();
      await page.getByRole("combobox", { name: "Add task" }).selectOption("image-to-image");
      await page.getByRole("button", { name: "Add task" }).click();
      await page.locator("#more-2").selectOption("mode");
    },
  },
  {
    name: "format",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      await ask(page, "format something");
      await page.locator(".prose .hljs-keyword").first().waitFor();
      await page.locator(".prose math").nth(1).waitFor();
    },
  },
  {
    name: "leave",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      await ask(page, "reserve article 17");
      await page.getByRole("button", { name: "Change the arguments" }).click();
      await page.locator("#leave-0-article").fill("x");
    },
  },
  {
    name: "leave-refuse",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      await ask(page, "reserve article 17");
      await page.getByRole("button", { name: "Refuse" }).click();
    },
  },
  {
    name: "inspector",
    act: async (page) => {
      await page.locator(".example").nth(1).click();
      await done(page);
      await page.locator('[data-task="1"]').click();
    },
  },
  {
    name: "running",
    planner: "llm",
    act: async (page, mock) => {
      mock.pace.held = true;
      await page.locator(".example").first().waitFor();
      await page.locator('input[type="file"]').setInputFiles({
        name: "lake.png",
        mimeType: "image/png",
        buffer: await readFile(join(process.cwd(), "dist/icon.svg")),
      });
      await page.locator(".upload-ready").waitFor();
      await ask(page, "Make a report about this picture and read it to me");
      for (let i = 0; i < 4; i++) await mock.pace.next();
      await page.locator(".node.is-running").first().waitFor();
    },
  },
  {
    name: "report",
    planner: "llm",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      await ask(page, "Make a report about this picture and read it to me");
      await done(page);
      await page.locator('[data-task="1"]').click();
    },
  },
  {
    name: "many-beside",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      await ask(page, "many");
      await done(page);
    },
  },
  {
    name: "many",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      await ask(page, "many");
      await done(page);
      const wide = page.getByRole("button", { name: "Large graph" });
      if (await wide.count()) await wide.click();
    },
  },
  {
    name: "uploads",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      for (const name of ["lake.png", "a-rather-long-name-of-a-picture-taken-in-summer.png", "too-large.png"])
        await page.locator('input[type="file"]').setInputFiles({ name, mimeType: "image/png", buffer: shapes() });
      await page.locator(".upload-failed").waitFor();
      await page.locator("#message").fill("Find the edges of both\nand tell me their colours");
    },
  },
  {
    name: "lightbox",
    schemes: ["dark"],
    act: async (page) => {
      await page.locator(".example").first().click();
      await done(page);
      await page.locator(".gallery .media-open").click();
    },
  },
  {
    name: "failed",
    act: async (page) => {
      await page.locator(".example").first().waitFor();
      await ask(page, "Find the edges and what is wrong in it, then read it aloud to me; fail if you must");
      await done(page);
      await page.locator('[data-task="1"]').click();
    },
  },
  {
    name: "review",
    act: async (page) => {
      await page.getByRole("radio", { name: "Review plan" }).check();
      await page.locator(".example").nth(1).click();
      await page.locator(".plan").waitFor();
      await page.locator("[data-plan-task='0'] .icon-button").click();
    },
  },
  {
    name: "planned",
    schemes: ["light"],
    act: async (page) => {
      await page.getByRole("radio", { name: "Plan only" }).check();
      await page.locator(".example").first().click();
      await page.locator(".plan").waitFor();
    },
  },
  {
    name: "speech",
    schemes: ["dark"],
    act: async (page) => {
      await page.locator(".example").nth(4).click();
      await done(page);
      await ask(page, "Tell the mood of this text: I am happy");
      await done(page);
      await page.locator(".exchange").nth(1).waitFor();
      await done(page);
      await page.locator('[data-task="0"]').last().click();
    },
  },
  {
    name: "error",
    act: async (page, mock) => {
      await page.locator(".example").first().waitFor();
      mock.failNext(
        "/hugginggpt/stream",
        503,
        {
          error: {
            code: "busy",
            message: "Every place is taken, and the queue is full",
            hint: "Try again in a moment",
          },
        },
        { "retry-after": "7" },
      );
      await ask(page, "Find the edges");
      await page.locator(".error-bubble").waitFor();
    },
  },
  {
    name: "runs",
    act: async (page) => {
      for (const i of [0, 1, 4]) {
        await page.goto(page.url().replace(/#.*/, "#/"));
        await page.locator(".example").nth(i).click();
        await done(page);
      }
      await page.goto(page.url().replace(/#.*/, "#/"));
      await page.locator(".example").first().waitFor();
      await ask(page, "Find what is wrong");
      await done(page);
      await page.goto(page.url().replace(/#.*/, "#/runs"));
      await page.locator(".runs tbody tr").first().waitFor();
    },
  },
  {
    name: "login",
    schemes: ["light"],
    token: "secret",
    act: async (page) => {
      await page.getByLabel("Token", { exact: true }).waitFor();
    },
  },
  {
    name: "drawer",
    sizes: ["phone"],
    act: async (page) => {
      await page.locator(".example").first().click();
      await done(page);
      await page.getByRole("button", { name: "Menu" }).click();
    },
  },
  {
    name: "docs",
    path: "/docs",
    act: async (page) => {
      await page.locator("main").waitFor();
      const first = page.locator("details.operation").first();
      if (await first.count()) await first.locator("summary").first().click();
    },
  },
];

for (const scene of scenes) {
  if (only && !scene.name.startsWith(only)) continue;
  for (const size of scene.sizes ?? (["desktop", "phone"] as const))
    for (const scheme of scene.schemes ?? (["light", "dark"] as const)) {
      const mock = await startMock({
        dist,
        pace: 30,
        planner: scene.planner ?? "offline",
        ...(scene.token ? { token: scene.token } : {}),
        ...(scene.admin ? { admin: scene.admin } : {}),
      });
      const at = await open(
        browser,
        mock.url,
        {
          viewport: sizes[size],
          colorScheme: scheme,
          locale: scene.locale ?? "en-GB",
          deviceScaleFactor: size === "phone" ? 2 : 1,
        },
        scene.path,
      );
      try {
        await scene.act(at.page, mock);
        await settle(at.page);
        await at.page.screenshot({ path: join(out, `${scene.name}-${size}-${scheme}.png`) });
        at.verify(/503|401|404|413/);
      } catch (e) {
        console.error(`${scene.name} ${size} ${scheme}: ${String(e).slice(0, 600)}`);
        await at.page.screenshot({ path: join(out, `${scene.name}-${size}-${scheme}-FAILED.png`) });
      }
      await at.close();
      await mock.close();
    }
}
await browser.close();
