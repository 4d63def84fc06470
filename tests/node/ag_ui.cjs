// A front end made of the official client of AG-UI: it asks, allows whatever the run waits for, and prints what it was told as JSON.
//   node ag_ui.cjs ADDRESS REQUEST
const { HttpAgent, buildResumeArray } = require("@ag-ui/client");

async function main([url, request]) {
  const agent = new HttpAgent({ url, threadId: "thread", initialState: { own: 1 } });
  agent.addMessage({ id: "message", role: "user", content: request });
  let exchanges = 1;
  await agent.runAgent();
  while (agent.pendingInterrupts.length > 0) {
    const answers = agent.pendingInterrupts.map(({ id }) => [id, { status: "resolved", payload: { decision: "approve" } }]);
    const resume = buildResumeArray(agent.pendingInterrupts, Object.fromEntries(answers));
    exchanges += 1;
    await agent.runAgent({ resume });
  }
  const of = (role) => agent.messages.filter((message) => message.role === role);
  const texts = of("assistant").filter((message) => message.content);
  const calls = of("assistant").flatMap((message) => message.toolCalls ?? []);
  return {
    exchanges,
    answer: texts.at(-1)?.content ?? null,
    tools: calls.map((call) => call.function.name),
    results: of("tool").map((message) => message.content),
    plan: of("activity").at(-1)?.content ?? null,
    state: agent.state,
  };
}

main(process.argv.slice(2)).then(
  (told) => process.stdout.write(JSON.stringify(told)),
  (error) => {
    process.stderr.write(`${error.stack ?? error}\n`);
    process.exit(1);
  },
);
