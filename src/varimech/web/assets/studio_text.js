// The text of the model beside the picture, checked while it is edited.

const QUIET = 350; // ms without a key after which the text is sent

export class TextPane {
  constructor(source, lines, mistake, link) {
    Object.assign(this, { source, lines, mistake, link, timer: null, sent: null });
    source.oninput = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.flush(), QUIET);
      this.number();
    };
    source.onscroll = () => (lines.scrollTop = source.scrollTop);
    source.onkeydown = (event) => {
      if (event.key !== "Tab" || event.shiftKey || event.ctrlKey) return;
      if (event.target.dataset.leave) return; // after Escape, Tab leaves the text
      event.preventDefault();
      source.setRangeText("  ", source.selectionStart, source.selectionEnd, "end");
      source.oninput();
    };
    source.addEventListener("keydown", (event) => {
      if (event.key === "Escape") source.dataset.leave = "yes";
      else if (event.key !== "Tab") delete source.dataset.leave;
    });
  }

  flush() {
    this.timer = null;
    this.sent = this.source.value;
    this.link.send("edit", { text: this.source.value });
  }

  update(text, problem) {
    this.problem = problem;
    if (this.timer === null && this.source.value !== text) {
      const { selectionStart, selectionEnd, scrollTop } = this.source;
      this.source.value = text;
      this.source.setSelectionRange(selectionStart, selectionEnd);
      this.source.scrollTop = scrollTop;
    }
    this.mistake.hidden = !problem;
    this.mistake.textContent = problem ? `${problem.line ? `Line ${problem.line}: ` : ""}${problem.message}` : "";
    this.number();
  }

  number() {
    const count = this.source.value.split("\n").length, wrong = this.problem && this.problem.line;
    const rows = (first, last) => Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => `${first + k}\n`).join("");
    const mark = document.createElement("b");
    mark.textContent = wrong;
    this.lines.replaceChildren(...(wrong ? [rows(1, wrong - 1), mark, "\n", rows(wrong + 1, count)] : [rows(1, count)]));
    this.lines.scrollTop = this.source.scrollTop;
  }
}
