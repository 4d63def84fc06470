import { render } from "preact";
render(<p>docs</p>, document.body);
