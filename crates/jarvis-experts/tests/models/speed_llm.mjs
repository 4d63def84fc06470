// What `examples/llm_speed` measures, with llama.cpp: `node speed_llm.mjs MODEL.gguf [THREADS]`, where node-llama-cpp 3.22.1 is installed.
import { getLlama } from "node-llama-cpp";

const [file, threads = "1"] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, maxThreads: Number(threads), build: "never", logLevel: "error" });
const began = performance.now();
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: 2048, batchSize: 512, threads: Number(threads) });
console.log(`load: ${((performance.now() - began) / 1000).toFixed(2)} s`);
const sequence = context.getSequence();
const words = "The harvest festival moved into the old barn because of the rain, and some people came. ".repeat(26);
const prompt = model.tokenize(`${words} Tell a long story about it.`);

const moment = () => ({ wall: performance.now() / 1000, processor: (({ user, system }) => (user + system) / 1e6)(process.cpuUsage()) });
const speed = (tokens, from, to) => {
  const per = (of) => (tokens / (to[of] - from[of])).toFixed(1);
  return `${tokens} tokens, ${per("wall")} tokens/s, ${per("processor")} tokens a second of processor time`;
};

const start = moment();
let first;
let last;
let count = 0;
for await (const _ of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
  last = moment();
  first ??= last;
  count += 1;
  if (count === 128) break;
}
console.log(`prompt: ${speed(prompt.length, start, first)}`);
console.log(`reply: ${speed(count - 1, first, last)}`);
process.exit(0);
