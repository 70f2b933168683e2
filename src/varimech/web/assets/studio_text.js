// The text of the model beside the picture, checked while it is edited.

const QUIET = 350; // time (ms) without a key after which the text is sent

export class TextPane {
  constructor(source, lines, mistake, link) {
    Object.assign(this, { source, lines, mistake, link, timer: null, unsent: false, revision: -1, since: -1 });
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
    this.unsent = !this.link.open;
    if (this.unsent) return; // sent with the first state of the next connection
    this.since = this.revision;
    this.link.send("edit", { text: this.source.value });
  }

  // revisions of another connection may be those of another studio
  connected() {
    this.since = -1;
  }

  update(text, problem, revision) {
    this.problem = problem;
    this.revision = revision;
    if (this.unsent) this.flush();
    // a state from before the last edit would undo it
    else if (this.timer === null && revision > this.since && this.source.value !== text) {
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
