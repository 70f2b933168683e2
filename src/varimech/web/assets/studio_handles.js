// Handles: a point or a bar of the mechanism that is dragged to a target; the selected parameters follow.

import { element } from "./player.js";
import { quantity } from "./studio_units.js";

const GRASP = 14; // distance from a point (pixels) within which it is grasped

// the shortest displacement (m) of a position that moves it by some pixels on the screen, for any camera
export function displacement(camera, place, pixels) {
  const from = Array.from(place), moved = from.slice(), size = 1e-3 * camera.size;
  for (let round = 0; round < 3; round++) { // iterate, because perspective is not linear
    const now = camera.project(moved), start = camera.project(from);
    const columns = moved.map((_, k) => {
      const [x, y] = camera.project(moved.map((v, i) => v + (i === k ? size : 0)));
      return [(x - now[0]) / size, (y - now[1]) / size];
    });
    const [r, s] = [start[0] + pixels[0] - now[0], start[1] + pixels[1] - now[1]];
    const sum = (f) => columns.reduce((total, c) => total + f(c), 0);
    const [a, b, d] = [sum((c) => c[0] * c[0]), sum((c) => c[0] * c[1]), sum((c) => c[1] * c[1])], det = a * d - b * b;
    const [u, v] = [(d * r - b * s) / det, (a * s - b * r) / det];
    columns.forEach((c, k) => (moved[k] += c[0] * u + c[1] * v));
  }
  return moved.map((x, k) => x - from[k]);
}

export class Handles {
  // `animation` returns the current animation, `following` the names of parameters that may change, `unitOf` the unit of an objective
  constructor(canvas, link, animation, following, unitOf) {
    Object.assign(this, { canvas, link, animation, following, unitOf, held: null, wanted: null });
    this.mark = document.createElement("div");
    this.mark.className = "target";
    this.mark.hidden = true;
    canvas.parentElement.append(this.mark);
    canvas.addEventListener("pointerdown", (event) => this.take(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    canvas.addEventListener("pointerup", (event) => this.release(event), { capture: true });
    for (const radio of document.querySelectorAll("input[name=handle]")) radio.onchange = () => this.choose();
  }

  get mode() {
    return document.querySelector("input[name=handle]:checked").value;
  }

  choose() {
    this.wanted = null;
    this.show(null);
    this.canvas.classList.toggle("handles", this.mode !== "off");
  }

  // index of the named point at the pointer, or null
  at(event) {
    const animation = this.animation(), box = this.canvas.getBoundingClientRect();
    let best = null, least = GRASP;
    for (const point of animation.labels.keys()) {
      const [x, y] = animation.camera.project(animation.place(animation.places, point));
      const apart = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
      if (apart < least) [best, least] = [point, apart];
    }
    return best;
  }

  // ends of the bar at the pointer, or null
  barAt(event) {
    const animation = this.animation(), box = this.canvas.getBoundingClientRect(), at = [event.clientX - box.left, event.clientY - box.top];
    const seen = (point) => animation.camera.project(animation.place(animation.places, point));
    const away = ([a, b]) => {
      const [[x, y], [u, v]] = [seen(a), seen(b)], long = (u - x) ** 2 + (v - y) ** 2 || 1, share = ((at[0] - x) * (u - x) + (at[1] - y) * (v - y)) / long;
      return share < 0 || share > 1 ? Infinity : Math.hypot(x + share * (u - x) - at[0], y + share * (v - y) - at[1]);
    };
    const bars = animation.data.shapes.filter(({ kind, points }) => kind === "body" && points.length > 1).map(({ points }) => [points[0], points[points.length - 1]]);
    const near = bars.filter((ends) => away(ends) < GRASP).sort((a, b) => away(a) - away(b));
    return near[0] || null;
  }

  take(event) {
    if (this.mode === "off" || !this.animation() || event.button !== 0) return;
    const point = this.at(event), points = point !== null ? [point] : this.mode === "point" ? this.barAt(event) : null;
    if (!points) return;
    const animation = this.animation(), places = points.map((p) => Array.from(animation.place(animation.places, p)));
    this.held = { points, places, from: [event.clientX, event.clientY], turns: event.shiftKey && points.length > 1, origin: animation.data.origin.slice(), time: animation.time };
    this.canvas.setPointerCapture(event.pointerId);
    event.stopImmediatePropagation();
  }

  // displacement in pixels of each dragged point: all equal, or about the first one
  pixels(event) {
    const { from, places, turns } = this.held, by = [event.clientX - from[0], event.clientY - from[1]];
    if (!turns) return places.map(() => by);
    const box = this.canvas.getBoundingClientRect(), [first, last] = places.map((place) => this.animation().camera.project(place));
    const angle = (x, y) => Math.atan2(y - box.top - first[1], x - box.left - first[0]), turn = angle(event.clientX, event.clientY) - angle(...from);
    const [c, s] = [Math.cos(turn), Math.sin(turn)], [x, y] = [last[0] - first[0], last[1] - first[1]];
    return [[0, 0], [c * x - s * y - x, s * x + c * y - y]];
  }

  move(event) {
    if (!this.held) return;
    event.stopImmediatePropagation(); // prevents a change of the view
    const { places, origin } = this.held, { camera } = this.animation(), pixels = this.pixels(event);
    this.wanted = places.map((place, n) => {
      const by = displacement(camera, place, pixels[n]);
      return place.map((x, k) => x + by[k] + origin[k]);
    });
    this.follow();
    this.link.sendNewest("pull", this.request());
  }

  release(event) {
    if (!this.held) return;
    event.stopImmediatePropagation();
    if (this.wanted) this.link.sendLast("pull", { ...this.request(), final: true });
    this.held = null;
  }

  request() {
    const { points, time } = this.held, names = points.map((point) => this.animation().data.points[point]), over = this.following();
    if (points.length > 1) return { points: names, places: this.wanted, time, over };
    return { point: names[0], place: this.wanted[0], ...(this.mode === "point" ? { time } : {}), over };
  }

  // keeps the mark at its position when the view moves
  follow() {
    this.mark.hidden = !this.wanted;
    const animation = this.animation();
    if (!this.wanted || !animation) return;
    const [x, y] = animation.camera.project(this.wanted[this.wanted.length - 1].map((v, k) => v - animation.data.origin[k]));
    this.mark.style.transform = `translate(${x}px, ${y}px)`;
  }

  // result of the last pull, as reported by the session
  show(handle) {
    const note = element("handle-note");
    if (!handle || handle.objective) this.wanted = this.held ? this.wanted : null;
    this.follow();
    note.textContent = "";
    if (!handle) return;
    const bounds = handle.at_bounds.length ? `; at a bound: ${handle.at_bounds.join(", ")}` : "";
    const unit = handle.objective ? this.unitOf(handle.objective) : "m";
    note.textContent = `${handle.objective ? `${handle.objective}: ` : ""}${handle.reached ? "reached" : `${quantity(handle.left, unit, 3)} left${bounds}`}`;
  }
}
