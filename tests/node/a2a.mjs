// What the JavaScript SDK of Agent2Agent does with a jarvis server: `node a2a.mjs URL BINDING` prints what came of it as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const packages = createRequire(new URL("../../target/node/package.json", import.meta.url));
const load = (name) => import(pathToFileURL(packages.resolve(name)).href);
const { ClientFactory, ClientFactoryOptions } = await load("@a2a-js/sdk/client");

const [url, binding] = process.argv.slice(2);
const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports: [binding] });
const client = await new ClientFactory(options).createFromUrl(url);
const said = (messageId, value) => ({
  message: { messageId, role: 1, parts: [{ content: { $case: "text", value } }] },
});
const words = (artifacts) =>
  artifacts
    .filter((artifact) => artifact.artifactId === "answer")
    .flatMap((artifact) => artifact.parts.map((part) => part.content.value))
    .join("");

const sent = await client.sendMessage(said("m-1", "tell the mood of: I love this house"));
const kinds = [];
const artifacts = [];
for await (const told of client.sendMessageStream(said("m-2", "tell the mood of: I love this house"))) {
  kinds.push(told.payload.$case);
  if (told.payload.$case === "artifactUpdate") artifacts.push(told.payload.value.artifact);
}
const read = await client.getTask({ id: sent.id });
const refused = await client.cancelTask({ id: sent.id }).then(
  () => "cancelled",
  (error) => error.name,
);
console.log(
  JSON.stringify({
    binding: client.transport?.protocolName ?? binding,
    answer: words(sent.artifacts),
    kinds,
    streamed: words(artifacts),
    read: read.status.state,
    refused,
  }),
);
