// The API page: shows /openapi.json as operations to open, with parameters, bodies, replies and a call to copy.
import { signal, useSignal } from "@preact/signals";
import { render } from "preact";
import { asApiError, getJson } from "../api/http";
import { t } from "../i18n";
import { clean } from "../model/text";
import { startSettings } from "../state/settings";
import { CopyButton } from "../ui/common";
import { Icon, Logo } from "../ui/icons";
import { Markdown } from "../ui/markdown";
import { SearchField } from "../ui/search-field";
import { curl, readApi, type Api, type Body, type Operation } from "./openapi";
import { notation } from "./schema";

const api = signal<Api | null>(null);
const failed = signal<string | null>(null);

function Page() {
  const filter = useSignal("");
  const wanted = filter.value.trim().toLowerCase();
  const shows = (o: Operation) =>
    !wanted || `${o.method} ${o.path} ${o.summary} ${o.tag}`.toLowerCase().includes(wanted);
  const a = api.value;
  return (
    <div class="docs">
      <header class="docs-bar">
        <a class="brand-link" href="/">
          <Logo />
          <span>jarvis</span>
        </a>
        <span class="muted">HTTP API{a?.version ? ` ${clean(a.version)}` : ""}</span>
        <SearchField placeholder="Filter" label="Filter operations" words={filter} />
        <a class="quiet" href="/openapi.json" download="openapi.json">
          <Icon name="download" size={16} />
          openapi.json
        </a>
      </header>
      <main>
        {failed.value && (
          <p class="problem" role="alert">
            {failed.value}
          </p>
        )}
        {a && (
          <>
            <h1>{clean(a.title)}</h1>
            {a.description && <p class="docs-lead">{clean(a.description)}</p>}
            {a.tags.map((tag) => {
              const shown = tag.operations.filter(shows);
              return shown.length ? (
                <section key={tag.name} aria-label={tag.name}>
                  {tag.name && <h2>{clean(tag.name)}</h2>}
                  {tag.description && <p class="muted">{clean(tag.description)}</p>}
                  {shown.map((o) => (
                    <OperationView key={o.id} operation={o} />
                  ))}
                </section>
              ) : null;
            })}
            {a.schemas.length > 0 && !wanted && (
              <section aria-label="Schemas">
                <h2>Schemas</h2>
                {a.schemas.map(([name, schema]) => (
                  <details class="operation" key={name} id={`schema-${name}`}>
                    <summary>
                      <code class="path">{name}</code>
                    </summary>
                    <div class="operation-body">
                      <Schema schema={schema} />
                    </div>
                  </details>
                ))}
              </section>
            )}
          </>
        )}
      </main>
    </div>
  );
}

function OperationView({ operation: o }: { operation: Operation }) {
  return (
    <details class="operation" id={o.id}>
      <summary>
        <span class={`method method-${o.method}`}>{o.method.toUpperCase()}</span>
        <code class="path">{o.path}</code>
        <span class="muted">{clean(o.summary)}</span>
      </summary>
      <div class="operation-body">
        {o.description && o.description !== o.summary && <Text text={o.description} />}
        {o.parameters.length > 0 && (
          <>
            <h3>Parameters</h3>
            <dl>
              {o.parameters.map((p) => (
                <div class="row" key={p.where + p.name}>
                  <dt>
                    <code>{p.name}</code>
                    <br />
                    <span class="muted">
                      {p.where}
                      {p.required ? ", required" : ""}
                    </span>
                  </dt>
                  <dd>
                    <Schema schema={p.schema} />
                    {p.description && <Text text={p.description} />}
                  </dd>
                </div>
              ))}
            </dl>
          </>
        )}
        {o.body.length > 0 && (
          <>
            <h3>Body{o.bodyRequired ? "" : " (may be left out)"}</h3>
            {o.body.map((b) => (
              <BodyView key={b.type} body={b} />
            ))}
          </>
        )}
        <h3>Replies</h3>
        <dl>
          {o.responses.map((r) => (
            <div class="row" key={r.status}>
              <dt>
                <code>{r.status}</code>
              </dt>
              <dd>
                {r.description && <Text text={r.description} />}
                {r.content.map((c) => (
                  <BodyView key={c.type} body={c} />
                ))}
              </dd>
            </div>
          ))}
        </dl>
        <h3>Call</h3>
        <div class="code">
          <CopyButton text={() => curl(o, location.origin)} />
          <pre tabIndex={0}>
            <code>{curl(o, location.origin)}</code>
          </pre>
        </div>
      </div>
    </details>
  );
}

/** A description, which OpenAPI says is Markdown. Its single line ends are where an editor broke the line. */
const Text = ({ text }: { text: string }) => <Markdown text={text.replace(/([^\n])\n(?![\n\s*\-\d>`|])/g, "$1 ")} />;

function BodyView({ body }: { body: Body }) {
  return (
    <div class="body">
      <code class="muted">{body.type}</code>
      {body.schema ? <Schema schema={body.schema} /> : null}
    </div>
  );
}

/** Opens the schema that a link leads to: a closed `details` cannot be scrolled to. */
function openSchema(name: string): void {
  const target = document.getElementById(`schema-${name}`);
  if (target instanceof HTMLDetailsElement) target.open = true;
}

function Schema({ schema }: { schema: unknown }) {
  const words = notation(schema);
  return (
    <pre class="schema" tabIndex={0}>
      {words.map((w, i) =>
        typeof w === "string" ? (
          clean(w)
        ) : (
          <a key={i} href={`#schema-${w.ref}`} onClick={() => openSchema(w.ref)}>
            {w.ref}
          </a>
        ),
      )}
    </pre>
  );
}

startSettings();
document.title = "jarvis: HTTP API";
getJson("/openapi.json")
  .then((json) => {
    api.value = readApi(json);
  })
  .catch((e: unknown) => {
    failed.value = asApiError(e).message || t("err_unreachable");
  });
const root = document.getElementById("app");
if (root) render(<Page />, root);
