// Where the page starts: settings, the router, the server's state and with it the chats; then the first rendering.
import { render } from "preact";
import { t } from "./i18n";
import { notify } from "./state/announce";
import { startChats } from "./state/chats";
import { startRouter } from "./state/route";
import { isDriven } from "./state/runs";
import { watchHealth } from "./state/server";
import { startSettings } from "./state/settings";
import { startSync } from "./state/sync";
import { App } from "./ui/app";
import { startLogin } from "./ui/login";

startSettings();
startRouter();
startLogin();
startChats(isDriven, () => notify(t("err_storage")));
startSync();
watchHealth();

const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
