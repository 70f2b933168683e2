// Small motions: modes, one of them moving in place of the mechanism, and the root locus over the range of a slider.

import { Plot } from "./plot.js";
import { readable } from "./plot_units.js";
import { quantity } from "./studio_units.js";

const PLACES = [["equilibrium", "equilibrium"], ["steady", "steady motion"], ["start", "start"]];
const ROUNDING = 1e-9; // fraction of an eigenvalue, or of a range, below which a number is rounding
const LEAST = 0.02; // smallest width of the plane relative to the largest eigenvalue
const NOW = "#1f2328";

function part(parent, name, className, text = "") {
  return parent.appendChild(Object.assign(document.createElement(name), { className, textContent: text }));
}

function choiceOf(parent, label, options, act) {
  const place = part(parent, "label", "", `${label} `), select = place.appendChild(document.createElement("select"));
  select.setAttribute("aria-label", label);
  select.append(...options.map(([value, text]) => new Option(text, value)));
  select.onchange = () => act(select.value);
  return select;
}

// growth rate and damping ratio, with rounding errors set to zero
export function settled({ growth, frequency, damping }) {
  const size = Math.hypot(growth, 2 * Math.PI * frequency);
  return Math.abs(growth) <= ROUNDING * size ? { growth: 0, frequency, damping: size ? 0 : NaN } : { growth, frequency, damping };
}

export class ModesPane {
  // `animate` is called with the data of a moving mode, or null for the mechanism itself
  constructor(place, link, animate) {
    Object.assign(this, { link, animate, open: false, names: null, linear: {}, rows: [], locus: null, plot: null });
    const choices = part(place, "div", "mode-choices");
    this.at = choiceOf(choices, "Small motions about", PLACES, (at) => link.send("linear", { at, mode: null }));
    this.refused = part(place, "p", "failure");
    this.refused.hidden = true;
    this.note = part(place, "p", "soft");
    this.table = part(place, "table", "designs modes");
    this.still = part(place, "button", "", "Stop the mode");
    Object.assign(this.still, { type: "button", title: "Show the motion of the mechanism again", onclick: () => link.send("linear", { mode: null }) });
    part(place, "h3", "", "Root locus");
    this.parameter = choiceOf(place, "Over the range of", [], (parameter) => link.send("linear", { parameter }));
    this.area = part(place, "div", "plot-area root-locus");
    this.locusNote = part(place, "p", "soft");
  }

  // whether the pane is shown: a mode is animated only then
  setOpen(open) {
    this.open = open;
    this.show();
  }

  setState({ linear, parameters }) {
    this.linear = linear;
    this.at.value = linear.at;
    const names = parameters.map((p) => p.name);
    if (names.join("\n") !== this.names) {
      this.names = names.join("\n");
      this.parameter.replaceChildren(...names.map((name) => new Option(name, name)));
    }
    if (names.includes(linear.parameter)) this.parameter.value = linear.parameter;
    this.parameters = parameters;
    if (linear.mode === null) this.moving = null;
    this.show();
  }

  setModes({ refused, modes = [], mode, steady, animation, at }) {
    this.refused.hidden = !refused;
    this.refused.textContent = refused || "";
    this.note.textContent = refused || steady ? "" : "The linear equations change along this motion: these are the modes of one instant.";
    this.rows = modes.map(settled);
    this.moving = animation || null;
    this.at.value = at;
    const head = document.createElement("tr");
    for (const text of ["mode", "frequency", "damping", "growth"]) part(head, "th", "", text);
    this.table.hidden = !modes.length;
    this.table.replaceChildren(head, ...this.rows.map((row, k) => this.row(k + 1, row, k + 1 === mode)));
    this.drawLocus();
    this.show();
  }

  row(number, { growth, frequency, damping }, shown) {
    const row = document.createElement("tr"), button = part(part(row, "td", ""), "button", "", `Mode ${number}`);
    Object.assign(button, { type: "button", title: "Show how it moves", onclick: () => this.link.send("linear", { mode: shown ? null : number }) });
    button.setAttribute("aria-pressed", String(shown));
    part(row, "td", "", frequency ? quantity(frequency, "Hz", 4) : "–");
    part(row, "td", "", frequency && Number.isFinite(damping) ? `${readable(100 * damping, 3)} %` : "–");
    part(row, "td", growth > 0 ? "grows" : "", `${readable(growth, 3)} 1/s`);
    return row;
  }

  setLocus(locus) {
    this.locus = locus;
    this.drawLocus();
  }

  // branches in the complex plane; dots are the present eigenvalues, which move with every slider
  drawLocus() {
    const { locus, rows } = this, branches = locus && !locus.refused ? locus.branches : [];
    const now = rows.flatMap((r) => (r.frequency ? [r, { ...r, frequency: -r.frequency }] : [r]));
    const curve = (name, points, colour, mode) => ({ name, colour, mode, x: Float64Array.from(points, (p) => p.growth), y: Float64Array.from(points, (p) => p.frequency) });
    const curves = branches.map(({ growth, frequency, colour }, k) => curve(`branch ${k + 1}`, Array.from(growth, (g, i) => settled({ growth: g, frequency: frequency[i] })), colour, "lines"));
    if (now.length) curves.push(curve("now", now, NOW, "markers"));
    this.area.hidden = !curves.length;
    this.locusNote.textContent = this.noteOf(locus);
    if (!curves.length) return;
    const all = curves.flatMap(({ x }) => [...x].filter(Number.isFinite)), sizes = curves.flatMap(({ x, y }) => Array.from(x, (g, k) => Math.hypot(g, 2 * Math.PI * y[k])).filter(Number.isFinite)), size = Math.max(...sizes) || 1;
    const low = Math.min(...all, 0), high = Math.max(...all, 0), room = Math.max(0.06 * (high - low), LEAST * size);
    const spec = {
      title: "Root locus", over_time: false, nearest: "point", curves,
      x: { label: "growth rate", unit: "1/s", range: [low - room, high + room] }, y: { label: "frequency", unit: "Hz" }, marks: [0],
    };
    if (this.plot) this.plot.setData(spec);
    else this.plot = new Plot(this.area, spec);
  }

  noteOf(locus) {
    if (!locus) return "";
    if (locus.refused) return `No root locus: ${locus.refused}`;
    const { parameter, ends, unit, crossings, jumps, at } = locus, of = (x) => quantity(Math.abs(x) <= ROUNDING * (ends[1] - ends[0]) ? 0 : x, unit, 4);
    const places = crossings.map(({ value, frequency }) => `${of(value)} (${quantity(frequency, "Hz", 3)})`);
    const breaks = jumps.map(([a, b]) => ` Between ${of(a)} and ${of(b)} the ${at} becomes another one.`).join("");
    return `${parameter} from ${of(ends[0])} to ${of(ends[1])}; dots: now. ${places.length ? `A growth rate passes zero at ${places.join(", ")}.` : "No growth rate passes zero."}${breaks}`;
  }

  show() {
    const moving = this.open ? this.moving : null;
    this.still.hidden = !moving;
    this.animate(moving || null);
  }

  theme() {
    if (this.plot) this.plot.theme();
  }
}
