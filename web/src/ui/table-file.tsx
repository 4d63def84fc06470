// A table of the answer: its first rows, and the whole of it as a file.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/http";
import { count } from "../i18n";
import { clean, label } from "../model/text";
import type { Table } from "../lazy/table";
import { Icon } from "./icons";

const ROWS = 12;
/** A larger file is only offered to be downloaded. */
const MAX_BYTES = 2_000_000;

export function TableFile({ url, name }: { url: string; name: string }) {
  const table = useSignal<Table | null>(null);
  useEffect(() => {
    let current = true;
    void (async () => {
      try {
        const [response, { read }] = await Promise.all([call(url), import("../lazy/table")]);
        if (Number(response.headers.get("content-length") ?? 0) > MAX_BYTES) return;
        const text = await response.text();
        if (current && text.length <= MAX_BYTES) table.value = read(text, ROWS);
      } catch {
        // It may still be downloaded, or be gone: the link says so.
      }
    })();
    return () => void (current = false);
  }, [url]);
  const file = name || "table.csv";
  const at = table.value;
  return (
    <figure class="table-file">
      {at && at.rows.length > 0 && (
        <div class="prose">
          <div class="table" tabIndex={0} role="group" aria-label={label(file, 60)}>
            <table>
              <thead>
                <tr>
                  {at.head.map((cell, i) => (
                    <th key={i} scope="col">
                      {clean(cell)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {at.rows.map((row, n) => (
                  <tr key={n}>
                    {at.head.map((_, i) => (
                      <td key={i} class={/^[-+\d.,\s%]+$/.test(row[i] ?? "") ? "align-right" : undefined}>
                        {clean(row[i] ?? "")}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      )}
      <figcaption>
        {at && at.all > at.rows.length && <span class="muted">{count("rows", at.all)}</span>}
        <a class="quiet" href={url} download={file}>
          <Icon name="download" size={16} /> {label(file, 60)}
        </a>
      </figcaption>
    </figure>
  );
}
