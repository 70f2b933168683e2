// Building a planar mechanism by mouse: palette, drawing board, the selected item, and missing items.

import { Board } from "./build_board.js";
import { TOOLS, Tools } from "./build_tools.js";
import { element } from "./player.js";

const SECTION = { link: "bodies", force: "forces" };

export class Build {
  constructor(link) {
    Object.assign(this, { link, on: false, fitted: false });
    this.board = new Board(element("board"));
    this.tools = new Tools(this.board, (stroke, given) => link.send("draw", { stroke, arguments: given }), (item) => this.choose(item));
    element("palette").replaceChildren(...TOOLS.map((tool) => this.button(tool)));
    element("build-toggle").onclick = () => this.show(!this.on);
    element("fit-board").onclick = () => this.board.fit();
    document.addEventListener("keydown", (event) => this.key(event));
    for (const kind of ["click", "keyup"]) element("source").addEventListener(kind, () => this.follow(element("source")));
    this.pick("select");
  }

  // marks the element in whose line the caret of the text is
  follow({ value, selectionStart }) {
    if (!this.on || !this.board.drawing) return;
    const before = value.slice(0, selectionStart), line = value.slice(before.lastIndexOf("\n") + 1).split("\n")[0];
    const section = (before.match(/^\w+(?=:)/gm) || []).pop(), [, name] = line.match(/^ +"?([^":{]+)"?:/) || [];
    const kinds = { ground: ["point"], bodies: ["link", "slider"], forces: ["force"] }[section] || [];
    const item = kinds.map((kind) => ({ kind, name })).find((each) => this.board.find(each));
    if (item) this.choose(item);
  }

  button([name, label, hint, key]) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: label, title: `${hint} (${key.toUpperCase()})` });
    button.dataset.tool = name;
    button.onclick = () => this.pick(name);
    return button;
  }

  pick(name) {
    this.tools.tool = name;
    for (const button of element("palette").children) button.setAttribute("aria-pressed", String(button.dataset.tool === name));
    element("board").dataset.tool = name;
    element("build-hint").textContent = TOOLS.find(([tool]) => tool === name)[2];
  }

  key(event) {
    if (!this.on || /^(input|textarea|select)$/i.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const tool = TOOLS.find(([, , , key]) => key === event.key.toLowerCase());
    if (event.key === "Escape") this.tools.cancel();
    else if (/^(Delete|Backspace)$/.test(event.key) && this.board.chosen) this.tools.remove(this.board.chosen);
    else if (tool) this.pick(tool[0]);
    else return;
    event.preventDefault();
  }

  show(on) {
    this.on = on;
    document.body.classList.toggle("building", on);
    if (!on) document.body.classList.remove("unfinished");
    element("build").hidden = !on;
    element("build-toggle").setAttribute("aria-pressed", String(on));
    if (on) {
      element("tab-text").click(); // shows how the text grows beside the drawing
      element("build").scrollIntoView({ block: "nearest" });
    }
    this.link.send("drawing", { on });
  }

  update(state) {
    if (!this.started) {
      this.started = true;
      if (!/^bodies:/m.test(state.text)) this.show(true); // nothing to look at yet
    }
    const { drawing, problem } = state;
    if (this.on && !drawing) this.link.send("drawing", { on: true }); // another page has stopped drawing, or the server was restarted
    if (!drawing) return;
    if (problem) return this.list([{ message: `The text has an error: ${problem.message}` }]); // the drawing is kept
    this.board.setData(drawing);
    if (!this.fitted && this.on) {
      this.fitted = true;
      this.board.fit();
    }
    this.count(drawing);
    if (!this.typing) this.choose(this.board.chosen);
  }

  count({ dofs, free, links, findings }) {
    this.list(findings);
    element("dofs").textContent = dofs === null || !links.length ? "" : `${dofs} DOF${free === dofs ? "" : `, ${dofs - free} driven`}`;
  }

  list(findings) {
    document.body.classList.toggle("unfinished", this.on && findings.length > 0);
    element("findings").replaceChildren(...findings.map(({ message }) => {
      const row = document.createElement("li");
      row.textContent = message;
      return row;
    }));
  }

  // fields of the selected item: its name, and its numbers as in the text
  choose(item) {
    const found = item && this.board.find(item), fields = [];
    this.board.chosen = found ? item : null;
    this.board.draw();
    if (found && item.kind !== "force") {
      const kind = item.kind === "point" ? "point" : "body";
      fields.push(this.field("name", item.name, (text, field) => this.link.send("draw", { stroke: "rename", arguments: { kind, old: item.name, new: text } }, field)));
    }
    for (const [key, value] of Object.entries((found && found.typed) || {})) {
      const given = (text) => ({ section: SECTION[item.kind], name: item.name, key, text });
      fields.push(this.field(key.replace("_", " "), value, (text, field) => this.link.send("draw", { stroke: "value", arguments: given(text) }, field)));
    }
    this.typing = false;
    element("chosen").replaceChildren(...fields);
  }

  field(label, value, send) {
    const row = document.createElement("label"), input = document.createElement("input");
    input.value = value;
    input.oninput = () => (this.typing = true);
    input.onblur = () => (this.typing = false);
    input.onchange = () => {
      this.typing = false;
      send(input.value.trim(), input);
    };
    row.append(label, input);
    return row;
  }
}
