// The empty chat: what this is for, and requests to click. Those about a picture bring one along.
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n";
import type { Key } from "../i18n/en";
import { send } from "../state/runs";
import { mode } from "../state/settings";
import { addFiles, takeUploads, uploading, uploads } from "../state/uploads";
import { draft, focusComposer } from "./composer";
import { Icon, type IconName } from "./icons";
import { preview, samplePicture, type Effect } from "./sample";

const EXAMPLES: ({ text: Key } & ({ effect: Effect } | { icon: IconName }))[] = [
  { text: "ex_edges", effect: "edges" },
  { text: "ex_chain", effect: "regions" },
  { text: "ex_turn", effect: "turned" },
  { text: "ex_grey", effect: "grey" },
  { text: "ex_speak", icon: "audio" },
  { text: "ex_mood", icon: "text" },
];

/** Sends an example. When its picture cannot be uploaded, or other files wait, its words go into the message box. */
async function tryExample(text: string, picture: boolean): Promise<void> {
  if (picture && uploads.value.length === 0)
    await addFiles([await samplePicture(`${t("sample_name").replace(/\s+/g, "-")}.png`)]);
  if (uploading.value || uploads.value.some((u) => u.error)) {
    draft.value = text;
    focusComposer.value++;
    return;
  }
  send(null, text, takeUploads(), mode.value);
}

export function Welcome() {
  return (
    <div class="welcome">
      <h1>{t("welcome")}</h1>
      <p class="welcome-sub">{t("welcome_sub")}</p>
      <h2 class="visually-hidden">{t("examples")}</h2>
      <ul class="examples">
        {EXAMPLES.map((e) => (
          <li key={e.text}>
            <button type="button" class="example" onClick={() => void tryExample(t(e.text), "effect" in e)}>
              {"effect" in e ? (
                <Thumbnail effect={e.effect} />
              ) : (
                <span class="example-icon">
                  <Icon name={e.icon} size={22} />
                </span>
              )}
              <span>{t(e.text)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Thumbnail({ effect }: { effect: Effect }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (ref.current) preview(ref.current, effect);
  }, []);
  return <canvas ref={ref} class="example-picture" aria-hidden="true" />;
}
