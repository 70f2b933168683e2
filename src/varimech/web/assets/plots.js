// All plots of a page: one time, one band, and their data as one table.

import { Plot } from "./plot.js";

export class PlotSet {
  // `onTime` is called with the time that a reader clicks; null without an animation
  constructor(specs, onTime) {
    this.plots = [...document.querySelectorAll(".plot-area")].map((area) => new Plot(area, specs[Number(area.dataset.plot)], { onTime }));
  }

  setTime(time) {
    for (const plot of this.plots) plot.setTime(time);
  }

  setBand(band) {
    for (const plot of this.plots) plot.setBand(band);
  }

  theme() {
    for (const plot of this.plots) plot.theme();
  }

  print(on) {
    for (const plot of this.plots) plot.print(on);
  }

  // all plotted numbers, one row for each point
  csv() {
    return ["plot,curve,axis,x,y,unit", ...this.plots.flatMap((plot) => plot.csv())].join("\n") + "\n";
  }
}
