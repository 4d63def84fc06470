// What the mock server has: models, and its own description.

export const KEPT: Record<string, unknown> = {
  id: "Xenova/detr-resnet-50",
  name: "detect",
  tasks: ["object-detection"],
  bytes: 45e6,
  license: "apache-2.0",
  loaded: { memory: 180e6, idle_s: 3, users: 0 },
};

export const SUGGESTED = [
  {
    name: "caption",
    about: "Describes pictures",
    repo: "org/caption",
    tasks: ["image-to-text"],
    bytes: 250e6,
    fits: true,
  },
  {
    name: "huge",
    about: "Writes",
    repo: "org/huge",
    tasks: ["text-generation"],
    bytes: 90e9,
    is_estimate: true,
    fits: false,
  },
];

export const MODELS = [
  { id: "native/canny", task: "canny-control", host: "native", likes: 0, description: "Edges by Canny's method" },
  {
    id: "lllyasviel/sd-controlnet-canny",
    task: "canny-control",
    host: "local",
    configured: false,
    likes: 0,
    description: "A detector on a model server",
  },
  {
    id: "native/graph-segmenter",
    task: "image-segmentation",
    host: "native",
    likes: 0,
    description: "Regions by a graph",
  },
];

MODELS.push({
  id: "native/turn",
  task: "image-to-image",
  host: "native",
  likes: 0,
  description: "Turns, scales and greys pictures",
});

export const OPENAPI = {
  openapi: "3.1.0",
  info: { title: "jarvis", version: "0.1.0", description: "Plans a request into a task graph, runs it and answers." },
  tags: [
    { name: "run", description: "Run requests" },
    { name: "server", description: "The server itself" },
  ],
  paths: {
    "/hugginggpt": {
      post: {
        tags: ["run"],
        operationId: "run",
        summary: "Run a request",
        description: "Plans, chooses models, executes and answers.",
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/ChatBody" },
              example: { messages: [{ role: "user", content: "find the edges" }] },
            },
          },
        },
        responses: {
          "200": {
            description: "The answer",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Reply" } } },
          },
          "400": {
            description: "The body cannot be read",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          },
        },
      },
    },
    "/runs": {
      get: {
        tags: ["run"],
        summary: "The runs, newest first",
        parameters: [
          {
            name: "limit",
            in: "query",
            description: "How many at most",
            schema: { type: "integer", default: 50, minimum: 1 },
          },
        ],
        responses: { "200": { description: "The runs" } },
      },
    },
    "/runs/{id}/cancel": {
      post: {
        tags: ["run"],
        summary: "Cancel a run",
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } }],
        responses: { "200": { description: "Cancelled" }, "409": { description: "It had ended" } },
      },
    },
    "/health": {
      get: { tags: ["server"], summary: "How the server is", responses: { "200": { description: "Its state" } } },
    },
  },
  components: {
    schemas: {
      ChatBody: {
        type: "object",
        required: ["messages"],
        properties: {
          messages: {
            type: "array",
            items: { $ref: "#/components/schemas/Turn" },
            description: "The last one is the request",
          },
          attachments: { type: "array", items: { type: "object" } },
        },
      },
      Turn: {
        type: "object",
        required: ["role", "content"],
        properties: { role: { type: "string", enum: ["user", "assistant", "system"] }, content: { type: "string" } },
      },
      Reply: { type: "object", properties: { message: { type: "string" }, run: { type: "object" } } },
      Error: {
        type: "object",
        properties: {
          error: { type: "object", properties: { code: { type: "string" }, message: { type: "string" } } },
        },
      },
    },
  },
};

const schema = (properties: Record<string, unknown>, required: string[]) => ({ type: "object", properties, required });

export const TOOLS = [
  {
    name: "shop/reserve",
    description: "Puts an article aside for three days",
    kind: "openapi",
    server: "shop",
    effect: "writes",
    approval: "approved",
    inputs: schema(
      {
        article: { type: "integer", description: "The number of the article" },
        size: { type: "string", enum: ["S", "M", "L"] },
        gift: { type: "boolean" },
      },
      ["article"],
    ),
  },
  {
    name: "trains/find",
    description: "Finds trains to a place",
    kind: "mcp",
    server: "trains",
    effect: "reads",
    approval: "not_needed",
    inputs: schema({ to: { type: "string", description: "Where to" } }, ["to"]),
  },
  {
    name: "trains/cancel",
    description: "Gives a booked seat back",
    kind: "mcp",
    server: "trains",
    effect: "destroys",
    approval: "new",
    inputs: schema({ booking: { type: "string" } }, ["booking"]),
  },
];

const image = { name: "image", kind: "image", required: true };

export const TASKS = [
  {
    name: "visual-question-answering",
    inputs: ["image", "text"],
    outputs: ["text"],
    params: [image, { name: "text", kind: "text", required: true, description: "The question" }],
  },
  { name: "canny-control", inputs: ["image"], outputs: ["image"], params: [image] },
  {
    name: "image-to-image",
    inputs: ["image", "text"],
    outputs: ["image"],
    params: [
      image,
      { name: "text", kind: "text", required: false },
      { name: "size", kind: "number", required: false, schema: { type: "integer", minimum: 1 } },
      { name: "mode", kind: "text", required: false, schema: { enum: ["soft", "sharp"] } },
    ],
  },
];

export const ITEMS = [
  { what: "runs", where: "run journal on this machine", until: "30 days after it ended" },
  { what: "media", where: "media folder on this machine", until: "no run speaks of it" },
  { what: "chats", where: "run journal on this machine", until: "you delete it" },
];
