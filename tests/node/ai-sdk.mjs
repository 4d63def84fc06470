// What Vercel's AI SDK does with a jarvis server: `node ai-sdk.mjs BASE_URL MODEL` prints what came of it as JSON.
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const packages = createRequire(new URL("../../target/node/package.json", import.meta.url));
const load = (name) => import(pathToFileURL(packages.resolve(name)).href);
const { createOpenAI } = await load("@ai-sdk/openai");
const { generateText, streamText, stepCountIs, tool, jsonSchema } = await load("ai");

const [baseURL, model] = process.argv.slice(2);
const openai = createOpenAI({ baseURL, apiKey: "none" });
const prompt = "what is the sentiment of: I love this house";

const { text } = await generateText({ model: openai(model), prompt, maxRetries: 0 });

let streamed = "";
for await (const piece of streamText({ model: openai(model), prompt, maxRetries: 0 }).textStream) streamed += piece;

const called = [];
const get_weather = tool({
  description: "Get the current weather for a location",
  inputSchema: jsonSchema({ type: "object", properties: { location: { type: "string" } }, required: ["location"] }),
  execute: async () => "18 °C and sunny",
});
const { text: answered } = await generateText({
  model: openai(model),
  prompt: "What's the weather like in San Francisco?",
  tools: { get_weather },
  stopWhen: stepCountIs(3),
  maxRetries: 0,
  onStepFinish: (step) => called.push(...step.toolCalls),
});

const { text: chat } = await generateText({ model: openai.chat(model), prompt, maxRetries: 0 });
const first = called[0] && { toolName: called[0].toolName, input: called[0].input };
console.log(JSON.stringify({ text, streamed, called: first, answered, chat, from: fileURLToPath(import.meta.url) }));
