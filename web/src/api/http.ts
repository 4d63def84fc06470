// fetch with the server's error shape, and log-in: a 401 asks for the token once and tries again.
import { record, str, taskError } from "./decode";

/** What a failed call says: a stable code, a message, and perhaps what to try. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
    readonly status = 0,
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

/** Asks the person for the token; resolves to false when they decline. Set by the log-in dialog. */
let askToken: () => Promise<boolean> = async () => false;
export function onUnauthorized(ask: () => Promise<boolean>): void {
  askToken = ask;
}

/** Lets the person log in; false when they decline. For calls that are not made by `call`. */
export const authorize = (): Promise<boolean> => askToken();

/** True for the error that an aborted fetch gives. */
export const isAbort = (e: unknown): boolean => e instanceof DOMException && e.name === "AbortError";

/** Any thrown thing as an ApiError. */
export function asApiError(e: unknown): ApiError {
  if (e instanceof ApiError) return e;
  if (e instanceof TypeError) return new ApiError("unreachable", "");
  return new ApiError("page_error", e instanceof Error ? e.message : String(e));
}

/** The error that a reply of the server describes, whatever its body is. */
export function errorOf(status: number, body: string, retryAfter: string | null): ApiError {
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(body);
  } catch {
    // A proxy's HTML page, perhaps: the status says enough.
  }
  const error = taskError(record(parsed).error);
  const seconds = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  return new ApiError(
    error?.code ?? `http_${status}`,
    error?.message || `HTTP ${status}`,
    error?.hint ?? null,
    status,
    seconds,
  );
}

/** One call. Throws ApiError for any status but 2xx. */
export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const response = await fetch(path, { credentials: "same-origin", redirect: "error", ...init });
    if (response.ok) return response;
    const error = errorOf(response.status, await response.text().catch(() => ""), response.headers.get("retry-after"));
    if (response.status === 401 && tries < 3 && (await askToken())) continue;
    throw error;
  }
}

export async function getJson(path: string, signal?: AbortSignal): Promise<unknown> {
  const response = await call(path, { headers: { accept: "application/json" }, ...(signal ? { signal } : {}) });
  return response.json();
}

export function postInit(body: unknown, accept: string, signal?: AbortSignal): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  };
}

/** Logs in with the token. True when the server took it; the token itself is not kept by the page. */
export async function logIn(token: string): Promise<boolean> {
  const response = await fetch("/session", { credentials: "same-origin", ...postInit({ token }, "application/json") });
  if (response.status === 401 || response.status === 403) return false;
  if (!response.ok) throw errorOf(response.status, await response.text(), response.headers.get("retry-after"));
  return true;
}

/** Ends the session. */
export async function logOut(): Promise<void> {
  await call("/session", { method: "DELETE" });
}

/** Uploads one file with progress, which fetch cannot report: hence XMLHttpRequest. */
export async function upload(
  file: Blob,
  name: string,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    const reply = await send(file, name, onProgress, signal);
    if (reply.status >= 200 && reply.status < 300) return JSON.parse(reply.body);
    const error = errorOf(reply.status, reply.body, reply.retryAfter);
    if (reply.status === 401 && tries < 3 && (await askToken())) continue;
    throw error;
  }
}

interface Reply {
  status: number;
  body: string;
  retryAfter: string | null;
}

function send(file: Blob, name: string, onProgress: (part: number) => void, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    form.append("file", file, name);
    const xhr = new XMLHttpRequest();
    xhr.open("POST", "/upload");
    xhr.setRequestHeader("accept", "application/json");
    xhr.upload.onprogress = (e) => e.lengthComputable && onProgress(e.loaded / e.total);
    xhr.onload = () =>
      resolve({ status: xhr.status, body: str(xhr.responseText), retryAfter: xhr.getResponseHeader("retry-after") });
    xhr.onerror = () => reject(new ApiError("unreachable", ""));
    xhr.onabort = () => reject(new DOMException("aborted", "AbortError"));
    if (signal.aborted) return reject(new DOMException("aborted", "AbortError"));
    signal.addEventListener("abort", () => xhr.abort(), { once: true });
    xhr.send(form);
  });
}
