// What the mock server plans and gives for a request: a few scripts, chosen by words in the request.

export interface Step {
  task: string;
  args: Record<string, string>;
  dep?: number[];
  model: string;
  host?: string;
  reason?: string;
  others?: { id: string; host: string }[];
  /** A medium that the mock makes: `outlines`, `regions`, `tone`; or the inference result itself. */
  gives?: "outlines" | "regions" | "tone";
  inference?: unknown;
  error?: { code: string; message: string; hint?: string };
  /** It waits for leave. */
  asks?: { effect: "writes" | "destroys"; arguments: Record<string, unknown>; sources: Record<string, string> };
  /** It is on its way until the server dies, and may have arrived. */
  lost?: boolean;
  /** An attempt of another model that failed before this one. */
  firstTry?: { id: string; message: string };
}

export interface Script {
  /** The run ends with this error as soon as it has begun. */
  ends?: { code: string; message: string; hint?: string };
  steps: Step[];
  answer: string;
  /** Whether the answer comes in pieces. */
  streamed?: boolean;
  /** Files of the answer that no task made. */
  extra?: { kind: string; make: "outlines" | "table"; name: string }[];
  notes?: string[];
}

/** Payloads that must stay text wherever they appear. */
export const PAYLOADS = [
  `<img src=x onerror="window.__xss=1">`,
  `<script>window.__xss=1</script>`,
  `[click](javascript:window.__xss=1)`,
  `"><svg onload=window.__xss=1>`,
  `![x](https://evil.example/pixel.png)`,
];

const FORMATTED = `### Growth by year

| Year | Sold | Change |
|:-----|-----:|:------:|
| 2023 | 1,204 | – |
| 2024 | 1,518 | **+26%** |

The mean change is $\\bar{x} = \\frac{ 1 }{n}\\sum_{i=1}^{n} x_i$, so that

$$
\\sigma = \\sqrt{\\frac{ 1 }{n}\\sum_{i=1}^{n}(x_i - \\bar{x})^2}
$$

- [x] read the table
- [ ] ask for ~~2021~~ 2022

\`\`\`python
def change(old: float, new: float) -> str:
    """How much more, in words."""
    return f"{(new - old) / old:+.0%}"  # 0.26 is +26%
\`\`\`
`;

const edges = (image: string): Step => ({
  task: "canny-control",
  args: { image },
  model: "native/canny",
  host: "native",
  reason: "it runs inside jarvis",
  gives: "outlines",
  others: [{ id: "lllyasviel/sd-controlnet-canny", host: "local" }],
});

const colours = (image: string): Step => ({
  task: "visual-question-answering",
  args: { image, text: "its main colours" },
  model: "native/image-measure-qa",
  host: "native",
  reason: "it runs inside jarvis",
  inference: [{ answer: "sand (58%), steel blue (24%), brick red (18%)", score: 0.9 }],
});

export function scriptFor(request: string, image: string): Script {
  const words = request.toLowerCase();
  const has = (...any: string[]) => any.some((w) => words.includes(w));
  if (has("many"))
    return {
      steps: Array.from({ length: 16 }, (_, i) => ({
        ...edges(i < 4 ? image : `<GENERATED>-${i - 4}`),
        ...(i < 4 ? {} : { dep: i % 5 === 0 ? [i - 4, i - 3] : [i - 4] }),
      })),
      answer: "All 16 tasks are done.",
    };
  if (has("reserve"))
    return {
      steps: [
        {
          task: "shop/reserve",
          args: { article: "17" },
          model: "shop/reserve",
          host: "tool",
          asks: { effect: "writes", arguments: { article: 17 }, sources: { article: "the request" } },
          inference: { "generated text": "reserved" },
        },
      ],
      answer: "It is reserved.",
    };
  if (has("book"))
    return {
      steps: [
        {
          task: "trains/find",
          args: { to: "Lisbon" },
          model: "trains/find",
          host: "tool",
          inference: { "generated text": "train 17" },
        },
        {
          task: "trains/book",
          args: { train: "<GENERATED>-0" },
          dep: [0],
          model: "trains/book",
          host: "tool",
          asks: { effect: "writes", arguments: { train: 17 }, sources: { train: "task 1" } },
          lost: true,
          inference: { "generated text": "booked" },
        },
      ],
      answer: "The train is booked.",
    };
  if (has("refused"))
    return {
      steps: [],
      answer: "",
      ends: { code: "unauthorized", message: "HTTP 401 from api.example: invalid_api_key", hint: "Set OPENAI_API_KEY" },
    };
  if (has("head office"))
    return {
      steps: [],
      answer: "It is in Bergen. The document says:\n\n> Its head office is in Bergen.",
      extra: [
        { kind: "image", make: "outlines", name: "chart.png" },
        { kind: "table", make: "table", name: "table.csv" },
      ],
    };
  if (has("format")) return { steps: [], answer: FORMATTED };
  if (has("hello", "привет", "你好"))
    return {
      steps: [],
      streamed: true,
      answer: "Hello. I can find edges, change pictures, read texts aloud and more.",
    };
  if (has("hostile") || PAYLOADS.some((p) => request.includes(p)))
    return {
      steps: [
        {
          task: PAYLOADS[0] ?? "",
          args: { image, text: PAYLOADS[1] ?? "" },
          model: `evil/${PAYLOADS[0]}`,
          host: PAYLOADS[3] ?? "",
          reason: PAYLOADS[1] ?? "",
          inference: {
            "generated text": PAYLOADS.join("\n"),
            "generated image": "https://evil.example/x.png",
            extra: PAYLOADS,
          },
          others: [{ id: PAYLOADS[1] ?? "", host: "local" }],
        },
      ],
      answer: `${PAYLOADS.join("\n\n")}\n\n/images/../../etc/passwd\n\n[**bold** link](https://example.org/a)`,
      notes: [...PAYLOADS],
    };
  if (has("chain", "segment", "разбей", "分割"))
    return {
      steps: [
        {
          task: "image-segmentation",
          args: { image },
          model: "native/graph-segmenter",
          host: "native",
          reason: "it runs inside jarvis",
          gives: "regions",
          others: [{ id: "facebook/maskformer-swin-base-coco", host: "huggingface" }],
        },
        { ...edges("<GENERATED>-0"), dep: [0] },
      ],
      answer:
        "Both steps are done: the picture falls into **three regions**, and these are their borders.\n\n1. Segmentation (native/graph-segmenter):\n   {0}\n2. Edges of the result (native/canny):\n   {1}",
    };
  if (has("wrong", "fail"))
    return {
      steps: [
        edges(image),
        {
          task: "object-detection",
          args: { image },
          model: "facebook/detr-resnet-50",
          host: "huggingface",
          reason: "most used for this task",
          firstTry: { id: "hustvl/yolos-tiny", message: "the model is still loading" },
          error: {
            code: "not_configured",
            message: "No model for object-detection can be reached without a Hugging Face token",
            hint: "Set HF_TOKEN, or start a model server and name it with --local",
          },
        },
        {
          task: "text-to-speech",
          args: { text: "<GENERATED>-1" },
          dep: [1],
          model: "native/espeak-ng",
          host: "native",
          error: { code: "no_output", message: "Task 1 gave no text" },
        },
      ],
      answer:
        "1 of 3 tasks is done.\n1. Edges (native/canny):\n   {0}\n2. Find objects: it failed, because no model can be reached without a token.\n3. Read aloud: skipped, as there is nothing to read.",
    };
  if (has("aloud", "вслух", "朗读"))
    return {
      steps: [
        {
          task: "text-to-speech",
          args: { text: request.split(/[:：]/).slice(1).join(":").trim() || request },
          model: "native/espeak-ng",
          host: "native",
          reason: "it runs inside jarvis",
          gives: "tone",
        },
      ],
      answer: "Here is the text, read aloud (native/espeak-ng):\n   {0}",
    };
  if (has("mood", "настроение", "情感"))
    return {
      steps: [
        {
          task: "text-classification",
          args: { text: "Anna came back from Lisbon in May and was delighted with the trip." },
          model: "native/vader",
          host: "native",
          reason: "it runs inside jarvis",
          inference: [
            { label: "POSITIVE", score: 0.8786 },
            { label: "NEUTRAL", score: 0.1193 },
            { label: "NEGATIVE", score: 0.0021 },
          ],
        },
        {
          task: "token-classification",
          args: { text: "Anna came back from Lisbon in May and was delighted with the trip." },
          model: "native/entity-rules",
          host: "native",
          reason: "it runs inside jarvis",
          inference: {
            "generated text": "people: Anna; places: Lisbon; dates: May",
            predicted: [{ entity_group: "PER", word: "Anna", score: 0.75 }],
          },
        },
      ],
      answer:
        "All 2 tasks are done.\n1. Mood (native/vader):\n   positive 88%, neutral 12%, negative 0%\n2. Names and figures (native/entity-rules):\n   people: Anna; places: Lisbon; dates: May",
    };
  if (has("report"))
    return {
      streamed: true,
      steps: [
        {
          task: "image-segmentation",
          args: { image },
          model: "native/graph-segmenter",
          host: "native",
          gives: "regions",
        },
        {
          task: "image-to-text",
          args: { image },
          model: "Salesforce/blip-image-captioning-large",
          host: "huggingface",
          reason: "Its description fits best: long captions, and it is available now.",
          inference: { "generated text": "a house by a lake at dusk, with three fir trees" },
          others: [
            { id: "nlpconnect/vit-gpt2-image-captioning", host: "huggingface" },
            { id: "native/image-measure", host: "native" },
          ],
          firstTry: { id: "microsoft/git-base-coco", message: "the model is still loading (503)" },
        },
        colours(image),
        { ...edges("<GENERATED>-0"), dep: [0] },
        {
          task: "summarization",
          args: { text: "<GENERATED>-1 <GENERATED>-2" },
          dep: [1, 2],
          model: "gpt-4o-mini",
          host: "llm",
          inference: { response: "A calm lakeside evening in sand, blue and brick red." },
        },
        {
          task: "translation",
          args: { text: "<GENERATED>-4" },
          dep: [4],
          model: "gpt-4o-mini",
          host: "llm",
          inference: { response: "Тихий вечер у озера в песочных, синих и кирпичных тонах." },
        },
        {
          task: "text-to-speech",
          args: { text: "<GENERATED>-4" },
          dep: [4],
          model: "native/espeak-ng",
          host: "native",
          gives: "tone",
        },
      ],
      answer:
        "Here is the report on your picture.\n\n### What it shows\n\nA *calm lakeside evening* in sand, blue and brick red. The picture falls into **three regions**; their borders are below.\n\n- Regions: {0}\n- Borders: {3}\n- The summary, read aloud: {6}\n\nThe Russian version: `Тихий вечер у озера в песочных, синих и кирпичных тонах.`",
    };
  return {
    steps: [edges(image), colours(image)],
    answer:
      "All 2 tasks are done.\n1. Edges (native/canny):\n   {0}\n2. Answer about the picture (native/image-measure-qa):\n   sand (58%), steel blue (24%), brick red (18%)",
  };
}
