// Actions of the pointer on the drawing board, by tool. A stroke is sent once, when it ends.

import { svg } from "./build_board.js";
import { angleText, endOf, spanText, snapped } from "./build_snap.js";

export const TOOLS = [
  ["select", "Select", "Drag a point or a link to move it, with shift to turn a link; drag beside it to move the view", "v"],
  ["ground", "Pivot", "Click: a fixed point; at the end of a link, a pivot", "g"],
  ["link", "Link", "Drag from one end to the other; at a point it is joined", "l"],
  ["slider", "Slider", "Press at a point, drag along its direction", "s"],
  ["spring", "Spring", "Drag from point to point", "k"],
  ["damper", "Damper", "Drag from point to point", "c"],
  ["driver", "Driver", "Click a link: it turns at constant speed", "d"],
  ["point", "Point", "Click beside a link after choosing it, or on it", "p"],
  ["delete", "Delete", "Click what is to go", "x"],
];
const DRAGGED = ["link", "slider", "spring", "damper"];

// a link that is dragged as a whole, or rotated about its first end: positions of its ends for a position of the pointer
function carriedLink(board, name, from, turns) {
  const { ends } = board.find({ kind: "link", name }), old = ends.map((end) => board.where(end)), [begin, end] = old, start = board.placeAt(from);
  const angle = ([x, y]) => Math.atan2(y - begin[1], x - begin[0]);
  const shifted = (to) => old.map((place) => place.map((x, k) => x + to[k] - start[k]));
  const turned = (to) => {
    const turn = angle(to) - angle(start), [c, s] = [Math.cos(turn), Math.sin(turn)], [x, y] = [end[0] - begin[0], end[1] - begin[1]];
    return [begin, [begin[0] + c * x - s * y, begin[1] + s * x + c * y]];
  };
  return { name, ends, places: (at) => (turns ? turned : shifted)(board.placeAt(at)), to: null };
}

export class Tools {
  // `draw(stroke, arguments)` changes the model, `choose(item)` shows an item
  constructor(board, draw, choose) {
    Object.assign(this, { board, draw, choose, tool: "select", begin: null, dragged: null, carried: null, last: null });
    const { place } = board;
    place.addEventListener("pointerdown", (event) => this.down(event));
    place.addEventListener("pointermove", (event) => this.move(event));
    place.addEventListener("pointerup", (event) => this.up(event));
    place.addEventListener("pointercancel", () => this.cancel());
    place.addEventListener("wheel", (event) => {
      event.preventDefault();
      board.zoom(Math.exp(-event.deltaY * 0.0015), this.at(event));
    }, { passive: false });
  }

  at(event) {
    const box = this.board.place.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // the item under the pointer; points before links
  item(event) {
    const node = this.board.nodeAt(this.at(event));
    if (node) return { kind: "point", name: node.name };
    const group = event.target.closest("[data-kind]");
    return group ? { kind: group.dataset.kind, name: group.dataset.name } : null;
  }

  down(event) {
    if (!this.board.drawing || event.button) return;
    const item = this.item(event);
    this.last = this.at(event);
    if (DRAGGED.includes(this.tool)) this.begin = snapped(this.board, this.last, { free: event.altKey });
    else if (this.tool === "select") {
      this.choose(item);
      this.dragged = item && item.kind === "point" ? item.name : null;
      this.carried = item && item.kind === "link" ? carriedLink(this.board, item.name, this.last, event.shiftKey) : null;
      this.panning = !item;
    } else this.click(item, event);
    this.board.place.setPointerCapture(event.pointerId);
  }

  move(event) {
    const at = this.at(event), free = event.altKey;
    if (this.begin) this.preview(snapped(this.board, at, { from: this.begin.place, except: this.begin.node, free }));
    else if (this.dragged) {
      this.target = snapped(this.board, at, { except: this.dragged, free }).place;
      this.board.moved.set(this.dragged, this.target);
      this.board.draw();
    } else if (this.carried) {
      this.carried.to = this.carried.places(at);
      this.carried.ends.forEach((name, k) => this.board.moved.set(name, this.carried.to[k]));
      this.board.draw();
    } else if (this.panning && this.last) {
      this.board.pan(at[0] - this.last[0], at[1] - this.last[1]);
      this.last = at;
    }
  }

  up(event) {
    if (this.begin) this.stroke(snapped(this.board, this.at(event), { from: this.begin.place, except: this.begin.node, free: event.altKey }));
    else if (this.dragged && this.target) this.draw("move", { node: this.dragged, to: this.target });
    else if (this.carried?.to) this.draw("carry", { body: this.carried.name, to: this.carried.to });
    this.cancel();
  }

  cancel() {
    Object.assign(this, { begin: null, dragged: null, carried: null, target: null, panning: false, last: null });
    this.board.layers.preview.replaceChildren();
  }

  click(item, event) {
    const { board, tool } = this, link = item && item.kind === "link" ? item.name : null;
    if (tool === "ground") this.draw("ground", { end: endOf(snapped(board, this.last, { free: event.altKey })) });
    else if (tool === "driver" && link) this.draw("driver", { body: link });
    else if (tool === "point") {
      const body = link || (board.chosen && board.chosen.kind === "link" ? board.chosen.name : null);
      if (body) this.draw("point", { body, at: snapped(board, this.last, { free: event.altKey }).place });
    } else if (tool === "delete" && item) this.remove(item);
  }

  remove({ kind, name }) {
    this.draw("delete", { kind: { link: "body", slider: "body" }[kind] || kind, name });
  }

  stroke(end) {
    const { begin, tool } = this, far = Math.hypot(end.place[0] - begin.place[0], end.place[1] - begin.place[1]) > 1e-9;
    if (tool === "slider") this.draw("slider", { end: endOf(begin), axis: far ? [end.place[0] - begin.place[0], end.place[1] - begin.place[1]] : [1, 0] });
    else if (far) this.draw(tool, { begin: endOf(begin), end: endOf(end) });
  }

  preview(end) {
    const { board, begin } = this, [[x0, y0], [x1, y1]] = [begin.place, end.place].map((p) => board.seen(p));
    const parts = [svg("path", { d: `M${x0} ${y0}L${x1} ${y1}` }), svg("circle", { cx: x1, cy: y1, r: end.node ? 11 : 5 })];
    if (begin.node) parts.push(svg("circle", { cx: x0, cy: y0, r: 11 }));
    parts.push(svg("text", { x: x1 + 14, y: y1 + 20 }, `${spanText(begin.place, end.place)}, ${angleText(begin.place, end.place)}`));
    board.layers.preview.replaceChildren(...parts);
  }
}
