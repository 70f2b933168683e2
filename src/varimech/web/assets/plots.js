// Plots drawn by plotly.js: coloured like the page, with a line at the time of the animation and selectable bands.

import { tone } from "./drawing.js";
import { decode } from "./tracks.js";

export class PlotSet {
  // `onTime` is called with the time that a reader clicks; null without an animation
  constructor(specs, onTime) {
    this.onTime = onTime;
    this.plots = [...document.querySelectorAll(".plot-area")].map((area) => ({ area, spec: specs[Number(area.dataset.plot)], cursor: null }));
    this.time = 0;
    this.band = null;
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) this.make(this.plots.find((p) => p.area === entry.target));
    }, { rootMargin: "400px" });
    for (const plot of this.plots) seen.observe(plot.area);
  }

  look() {
    const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
    return { ink: get("--ink"), soft: get("--soft"), grid: get("--line"), card: get("--card"), strong: get("--strong-grid") };
  }

  data(spec) {
    const toned = (colour) => (Array.isArray(colour) ? colour.map(tone) : tone(colour));
    return spec.data.map((trace) => {
      const parts = ["line", "marker"].filter((part) => trace[part]);
      const toneOf = (part) => ({ ...trace[part], color: toned(trace[part].color) });
      const styled = Object.fromEntries(parts.map((part) => [part, toneOf(part)]));
      if (styled.line) styled.line.simplify = false; // simplified curves lose vibrations
      return { ...trace, ...styled };
    });
  }

  layout(spec) {
    const look = this.look();
    const axis = (own) => ({
      gridcolor: look.grid, zerolinecolor: look.strong, linecolor: look.strong, tickfont: { color: look.soft }, exponentformat: "power", ...own,
      title: { standoff: 8, ...(own.title || {}), font: { color: look.soft, size: 12 } },
    });
    return {
      ...spec.layout,
      xaxis: axis({ ...spec.layout.xaxis }),
      yaxis: axis({ automargin: true, ...spec.layout.yaxis }),
      margin: { l: 56, r: 14, t: 8, b: 44 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, sans-serif", size: 12, color: look.ink },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, traceorder: "normal", font: { color: look.soft } },
      hoverlabel: { bgcolor: look.card, bordercolor: look.strong, font: { color: look.ink } },
      dragmode: "zoom",
    };
  }

  // plots are created when they scroll into view
  make(plot) {
    if (!plot || plot.made) return;
    plot.made = true;
    const { area, spec } = plot;
    Plotly.newPlot(area, this.data(spec), this.layout(spec), { displaylogo: false, displayModeBar: false, responsive: true });
    if (spec.over_time && this.onTime) {
      plot.cursor = area.appendChild(Object.assign(document.createElement("div"), { className: "cursor" }));
      let down = null;
      area.addEventListener("mousedown", (event) => (down = [event.clientX, event.clientY]), true);
      window.addEventListener("mouseup", (event) => {
        if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4) this.click(area, event);
        down = null;
      }, true);
      for (const event of ["plotly_relayout", "plotly_afterplot"]) area.on(event, () => this.moveCursor(plot));
    }
    if (this.band) this.drawBand(plot);
    this.moveCursor(plot);
  }

  makeAll() {
    for (const plot of this.plots) this.make(plot);
  }

  click(area, event) {
    const { xaxis, _size: size } = area._fullLayout, x = event.clientX - area.getBoundingClientRect().left - size.l;
    if (x >= 0 && x <= size.w) this.onTime(xaxis.p2d(x));
  }

  setTime(time) {
    this.time = time;
    for (const plot of this.plots) this.moveCursor(plot);
  }

  moveCursor(plot) {
    if (!plot.cursor) return;
    const { xaxis, _size: size } = plot.area._fullLayout, x = xaxis.d2p(this.time);
    Object.assign(plot.cursor.style, {
      transform: `translateX(${size.l + x}px)`, top: `${size.t}px`, height: `${size.h}px`, display: x < -1 || x > size.w + 1 ? "none" : "block",
    });
  }

  // `band` is null, {deviations: number} or {parameter: index, change: number}
  setBand(band) {
    this.band = band;
    for (const plot of this.plots) if (plot.made) this.drawBand(plot);
  }

  drawBand({ area, spec }) {
    const traces = [], lower = [], upper = [];
    for (const band of spec.bands) {
      const chosen = this.band && ("deviations" in this.band ? band.deviation : band.derivatives && band.derivatives[this.band.parameter]);
      const y = area._fullData[band.line].y, factor = this.band ? this.band.deviations ?? this.band.change : 0;
      const half = chosen ? decode(chosen).map((s) => Math.abs(s * factor)) : new Float32Array(y.length);
      traces.push(band.lower, band.upper);
      lower.push(Float64Array.from(y, (v, k) => v - half[k]));
      upper.push(Float64Array.from(y, (v, k) => v + half[k]));
    }
    if (traces.length) Plotly.restyle(area, { y: lower.flatMap((low, k) => [low, upper[k]]) }, traces);
  }

  theme() {
    for (const plot of this.plots) {
      if (!plot.made) continue;
      Plotly.react(plot.area, this.data(plot.spec), this.layout(plot.spec));
      this.drawBand(plot);
    }
  }

  // all plotted curves, one row for each point
  csv() {
    this.makeAll();
    const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
    const rows = ["plot,curve,axis,x,y"];
    for (const { area, spec } of this.plots) {
      for (const { trace, name } of spec.curves) {
        const { x, y } = area._fullData[trace];
        for (let k = 0; k < y.length; k++) rows.push([quoted(spec.title), quoted(name), quoted(spec.xlabel), x[k], y[k]].join(","));
      }
    }
    return rows.join("\n") + "\n";
  }
}
