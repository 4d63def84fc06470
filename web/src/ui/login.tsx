// Log-in with the server's token. Every call that gets a 401 waits here and goes on when the token is right.
import { effect, signal, useSignal } from "@preact/signals";
import * as client from "../api/client";
import { asApiError, logIn, onUnauthorized } from "../api/http";
import { t } from "../i18n";
import { asksToken, loadHealth, loggedIn } from "../state/server";
import { Dialog } from "./common";
import { Logo } from "./icons";

const waiting = signal<((ok: boolean) => void)[]>([]);

/** Makes calls that are refused ask here; several at once share one dialog. Asks on opening where a token is wanted. */
export function startLogin(): void {
  onUnauthorized(() => {
    loggedIn.value = false;
    return new Promise((resolve) => (waiting.value = [...waiting.value, resolve]));
  });
  let asked = false;
  effect(() => {
    if (!asksToken.value || asked) return;
    asked = true;
    void enter();
  });
}

/** Makes a small call that needs a log-in, which asks for one where there is none. */
export async function enter(): Promise<void> {
  try {
    await client.runs(1);
    loggedIn.value = true;
  } catch {
    // Declined, or the server is away: whatever is done next asks again.
  }
}

function settle(ok: boolean): void {
  const all = waiting.value;
  waiting.value = [];
  for (const resolve of all) resolve(ok);
}

export function Login() {
  return waiting.value.length ? <LoginDialog /> : null;
}

function LoginDialog() {
  const token = useSignal("");
  const wrong = useSignal<string | null>(null);
  const busy = useSignal(false);
  const submit = async (e: Event) => {
    e.preventDefault();
    if (!token.value || busy.value) return;
    busy.value = true;
    try {
      if (await logIn(token.value)) {
        loggedIn.value = true;
        settle(true);
        void loadHealth();
      } else wrong.value = t("token_wrong");
    } catch (error) {
      const e = asApiError(error);
      wrong.value = e.code === "unreachable" ? t("err_unreachable") : e.message;
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog label={t("login_title")} class="login" onClose={() => settle(false)}>
      <form onSubmit={(e) => void submit(e)}>
        <Logo size={34} />
        <h2>{t("login_title")}</h2>
        <p class="muted">{t("login_sub")}</p>
        <label for="token">{t("token")}</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          autofocus
          value={token.value}
          aria-invalid={wrong.value !== null}
          aria-describedby="token-wrong"
          onInput={(e) => (token.value = e.currentTarget.value)}
        />
        <p class="problem" id="token-wrong" role="alert">
          {wrong.value}
        </p>
        <button type="submit" class="primary" disabled={busy.value || !token.value}>
          {t("log_in")}
        </button>
      </form>
    </Dialog>
  );
}
