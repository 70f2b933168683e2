// Curves over time that follow the design.

import { Plot } from "./plot.js";
import { quantity } from "./studio_units.js";

export class LivePlots {
  constructor(place, onTime) {
    Object.assign(this, { place, onTime, plots: [], parameters: [], titles: null, time: 0, band: null });
  }

  // `plots`: title, unit, x, and curves with their derivatives, if those are known
  update(plots, events) {
    const titles = plots.map((p) => p.title).join("\n");
    if (titles !== this.titles) this.build(plots, titles);
    plots.forEach((plot, k) => {
      this.plots[k].setData(this.spec(plot, events));
      this.plots[k].setTime(this.time);
    });
  }

  build(plots, titles) {
    this.titles = titles;
    const figures = plots.map(({ title }) => {
      const figure = document.createElement("figure"), caption = document.createElement("figcaption"), area = document.createElement("div");
      caption.textContent = title;
      area.className = "plot-area";
      area.style.height = "220px";
      figure.append(caption, area, Object.assign(document.createElement("p"), { className: "slopes soft" }));
      return figure;
    });
    this.place.replaceChildren(...figures);
    this.plots = plots.map((plot, k) => new Plot(figures[k].querySelector(".plot-area"), this.spec(plot, []), { onTime: this.onTime, onHover: (found) => this.showSlopes(figures[k].querySelector(".slopes"), found, plot) }));
  }

  spec({ title, unit, x, curves }, events) {
    return {
      title, over_time: true, x: { label: "time", unit: "s" }, y: { label: title, unit }, marks: events.map((event) => event.time),
      curves: curves.map((curve) => ({ x, ...curve })),
    };
  }

  // derivatives of all curves at the time under the pointer, that of the most influential parameter first
  showSlopes(place, found, { title, unit }) {
    const lines = (found ? found.points : []).filter(({ curve }) => curve.derivatives).map(({ curve, index }) => {
      const slopes = this.parameters.map((p, k) => ({ ...p, slope: curve.derivatives[k][index] })).sort((a, b) => Math.abs(b.slope * b.scale) - Math.abs(a.slope * a.scale));
      return `${curve.name || title}: ${slopes.map((p) => `${p.name} ${quantity(0.01 * p.scale * p.slope, unit, 3)} (∂ ${quantity(p.slope, `${unit || "1"} per ${p.unit || "1"}`, 3)})`).join(", ")}`;
    });
    place.textContent = lines.length ? ["Change at this time for +1 % of each parameter, and the derivative", ...lines].join("\n") : "";
  }

  setTime(time) {
    this.time = time;
    for (const plot of this.plots) plot.setTime(time);
  }

  setBand(band) {
    for (const plot of this.plots) plot.setBand(band);
  }

  theme() {
    for (const plot of this.plots) plot.theme();
  }
}
