// A report: controls, downloads and printing.

import { Animation } from "./animation.js";
import { download, fileName } from "./pictures.js";
import { Player, connectPlayer, connectView, element } from "./player.js";
import { PlotSet } from "./plots.js";
import { connectViewMenu } from "./view_menu.js";

const report = JSON.parse(document.getElementById("report-data").textContent);

function connectInfluence(player) {
  const { animation, plots } = player, { influence, parameters } = animation;
  element("sensitivity").hidden = !animation.derivatives.length;
  if (!animation.derivatives.length) return;
  parameters.forEach(({ name }, k) => element("parameter").add(new Option(name, k)));
  element("band-choice").hidden = !report.tolerances;
  element("bands-choice").hidden = !report.plots.some((plot) => (plot.curves || []).some((curve) => curve.derivatives || curve.deviation));
  const update = () => {
    influence.parameter = Number(element("parameter").value);
    influence.percent = Number(element("change").value);
    influence.mode = document.querySelector("input[name=influence]:checked").value;
    const of = report.tolerances && element("band-of").value;
    element("change-text").textContent = animation.changeText;
    const shown = element("show-bands").checked, { name } = parameters[influence.parameter], by = animation.changeText.replace(/^[+−]/, "± ");
    if (!shown) plots.setBand(null);
    else plots.setBand(of === "tolerances" ? { deviations: report.sigmas } : { parameter: influence.parameter, change: animation.change });
    const note = of === "tolerances" ? `± ${report.sigmas} standard deviations due to all tolerances` : `${name} ${by}`;
    for (const place of document.querySelectorAll(".band-note")) place.textContent = shown ? `Bands: ${note}, to first order.` : "";
    player.redraw();
  };
  for (const id of ["parameter", "show-bands", "band-of"]) element(id).onchange = update;
  element("change").oninput = update;
  for (const radio of document.querySelectorAll("input[name=influence]")) radio.onchange = update;
  update();
}

// everything is unfolded on paper, in light colours, and drawn for its width
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
    connectInfluence(player);
    new ResizeObserver(() => {
      animation.resize();
      animation.draw(); // immediately: resizing clears the canvas
    }).observe(animation.canvas);
  }
  const file = fileName(report.name, "report");
  if (report.model !== null) element("download-model").onclick = () => download(`${file}.yaml`, report.model, "text/yaml");
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

window.varimech = start();
