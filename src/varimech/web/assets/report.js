// A report: controls, downloads and printing.

import { Animation } from "./animation.js";
import { connectInfluence } from "./influence.js";
import { download, fileName } from "./pictures.js";
import { Player, connectPlayer, connectView, element } from "./player.js";
import { PlotSet } from "./plots.js";
import { connectViewMenu } from "./view_menu.js";

const report = JSON.parse(document.getElementById("report-data").textContent);

// on paper everything is unfolded, in light colours, and drawn for its width
function connectPrinting(plots, animation) {
  let folded = [];
  const print = (on) => {
    document.documentElement.classList.toggle("printing", on);
    if (on) folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = on;
    plots.print(on);
    if (!animation) return;
    animation.theme();
    animation.resize();
    animation.draw();
  };
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
}

function start() {
  let player = null;
  const plots = new PlotSet(report.plots, report.animation && ((time) => (player.time = time)));
  const animation = report.animation && new Animation(element("stage"), report.animation, report.parameters);
  if (animation) {
    player = new Player(animation, plots);
    connectPlayer(player);
    connectView(player);
    connectViewMenu(player, report.name);
    const bands = report.plots.some((plot) => (plot.curves || []).some((curve) => curve.derivatives || curve.deviation));
    connectInfluence(player, { tolerances: report.tolerances, sigmas: report.sigmas, bands });
    new ResizeObserver(() => {
      animation.resize();
      animation.draw(); // immediately: resizing clears the canvas
    }).observe(animation.canvas);
  }
  const file = fileName(report.name, "report");
  if (element("download-model")) element("download-model").onclick = () => download(`${file}.yaml`, report.model, "text/yaml");
  element("download-data").onclick = () => download(`${file}.csv`, plots.csv(), "text/csv");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    plots.theme();
    if (animation) {
      animation.theme();
      player.redraw();
    }
  });
  connectPrinting(plots, animation);
  return { animation, plots, player };
}

export const opened = start();

window.varimech = opened;
