// The empty chat: what this is for, and requests to click. Those about a picture bring one along.
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n";
import type { Key } from "../i18n/en";
import { send } from "../state/runs";
import { mode } from "../state/settings";
import { addFiles, takeUploads, uploading, uploads } from "../state/uploads";
import { draft, focusComposer } from "./composer";
import { Icon, type IconName } from "./icons";
import { paint, samplePicture } from "./sample";

const EXAMPLES: { text: Key; picture: boolean; icon: IconName }[] = [
  { text: "ex_edges", picture: true, icon: "image" },
  { text: "ex_chain", picture: true, icon: "image" },
  { text: "ex_turn", picture: true, icon: "image" },
  { text: "ex_grey", picture: true, icon: "image" },
  { text: "ex_speak", picture: false, icon: "audio" },
  { text: "ex_mood", picture: false, icon: "text" },
];

/** Sends an example. When its picture cannot be uploaded, or other files wait, its words go into the message box. */
async function tryExample(text: string, picture: boolean): Promise<void> {
  if (picture && uploads.value.length === 0) await addFiles([await samplePicture(`${t("sample_name").replace(/\s+/g, "-")}.png`)]);
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
            <button type="button" class="example" onClick={() => void tryExample(t(e.text), e.picture)}>
              {e.picture ? <Thumbnail /> : <span class="example-icon"><Icon name={e.icon} size={22} /></span>}
              <span>{t(e.text)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Thumbnail() {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (ref.current) paint(ref.current, 144, 96);
  }, []);
  return <canvas ref={ref} class="example-picture" aria-hidden="true" />;
}
