// The pages beside the chat, which are loaded when the first of them is opened.
import { route } from "../state/route";
import { Data } from "./data";
import { Models } from "./models";
import { Runs } from "./runs";
import { Tools } from "./tools";

export function Page() {
  switch (route.value.page) {
    case "models":
      return <Models />;
    case "tools":
      return <Tools />;
    case "data":
      return <Data />;
    case "runs":
    case "chat":
      return <Runs />;
  }
}
