// Loads: reactions as arrows, bending moments of beams as colours with their scale.

import { niceLength } from "./camera.js";
import { drawArrow, drawText } from "./drawing.js";

const FORCES = { reactions: { ink: "bad", name: "joints" }, acting: { ink: "good", name: "springs, dampers and contacts" } }; // on bodies

const LOW = [0.13, 0.4, 0.67], MIDDLE = [0.87, 0.87, 0.85], HIGH = [0.7, 0.09, 0.17]; // blue, grey and red, also for colour-blind readers

// colour of a moment relative to the largest, from −1 to 1
export function momentColour(share) {
  const to = share < 0 ? LOW : HIGH, s = Math.min(1, Math.abs(share)) ** 0.7;
  return MIDDLE.map((x, k) => x + s * (to[k] - x));
}

// three digits with an engineering prefix
export function engineering(number, unit) {
  const power = number ? Math.max(-3, Math.min(3, Math.floor(Math.log10(Math.abs(number)) / 3))) : 0;
  return `${String(Number((number / 1000 ** power).toPrecision(3))).replace("-", "−")} ${["n", "µ", "m", "", "k", "M", "G"][power + 3]}${unit}`;
}

// methods of an animation
export const loads = {
  // moment at a position on a beam, in nodes from its first end, relative to the largest of the run
  momentAt(name, node) {
    const { nodes, largest } = this.data.bending, names = Object.keys(nodes), count = nodes[name];
    const first = names.slice(0, names.indexOf(name)).reduce((sum, other) => sum + nodes[other], 0), M = this.moments;
    const place = node - 1, k = Math.max(0, Math.min(count - 2, Math.floor(place))); // the end nodes have no moment of their own
    const [a, b] = [M[first + k], M[first + Math.min(k + 1, count - 1)]];
    return (a + (place - k) * (b - a)) / (largest || 1);
  },

  // kinds of forces that are switched on and available for this motion
  shownForces() {
    return Object.keys(FORCES).filter((kind) => this.options[kind] && this.data[kind]);
  },

  // length of arrows (m/N): usual forces of the run are at most a fifth of the mechanism; both kinds have the same scale
  forceScale() {
    return (0.2 * this.camera.size) / (Math.max(...this.shownForces().map((kind) => this.data[kind].scale)) || 1);
  },

  drawForces(seen) {
    const scale = this.forceScale(), kinds = this.shownForces();
    for (const kind of kinds) {
      this.data[kind].points.forEach((point, k) => {
        const force = this.place(this[kind], k), place = this.place(this.places, point);
        drawArrow(this.pen, seen[point], this.camera.project(place.map((x, i) => x + scale * force[i])), this.ink[FORCES[kind].ink]);
      });
    }
    if (kinds.length) this.drawForceScale(scale, this.ink[FORCES[kinds[0]].ink]);
  },

  forceLegend() {
    const texts = this.shownForces().map((kind) => {
      const now = Math.max(...this.data[kind].points.map((_, k) => Math.hypot(...this.place(this[kind], k))));
      return `Forces of ${FORCES[kind].name}: strongest now ${engineering(now, "N")}, at any time ${engineering(this.data[kind].largest, "N")}`;
    });
    return texts.join(". ");
  },

  // the scale: a force of a round value, and the length of its arrow in the middle of the view
  drawForceScale(scale, colour) {
    const { pen, camera, ink } = this, force = niceLength((0.15 * camera.size) / scale), wide = force * scale * camera.factor, [x, y] = [camera.spatial ? 104 : 18, camera.height - 24];
    drawArrow(pen, [x, y], [x + wide, y], colour);
    drawText(pen, engineering(force, "N"), x + 8 + wide, y, ink.soft, ink.stage, "left", 12);
  },

  drawMomentScale() {
    const { pen, camera, ink, data: { bending, dimension } } = this, [wide, high] = [160, 9], x = camera.width / 2 - wide / 2, y = camera.height - 24;
    const least = dimension === 2 ? -1 : 0, steps = 40;
    for (let k = 0; k < steps; k++) {
      const [r, g, b] = momentColour(least + ((1 - least) * (k + 0.5)) / steps).map((v) => Math.round(255 * v));
      pen.fillStyle = `rgb(${r},${g},${b})`;
      pen.fillRect(x + (wide * k) / steps, y, wide / steps + 0.5, high);
    }
    drawText(pen, engineering(least * bending.largest, "N·m"), x - 8, y + 5, ink.soft, ink.stage, "right", 12);
    drawText(pen, engineering(bending.largest, "N·m"), x + wide + 8, y + 5, ink.soft, ink.stage, "left", 12);
    drawText(pen, "bending moment", x + wide / 2, y - 10, ink.soft, ink.stage, "center", 12);
  },
};
