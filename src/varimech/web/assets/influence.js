// The influence of a parameter: arrows or a ghost in the animation, bands in the plots. Reports and the studio share it.

import { element } from "./player.js";

// `tolerances`: whether bands can show tolerances, ± `sigmas` standard deviations; `bands`: whether plots have derivatives
export function connectInfluence(player, { tolerances = false, sigmas = 3, bands = true }) {
  const { animation, plots } = player, { influence, parameters } = animation, choice = element("parameter");
  element("sensitivity").hidden = !animation.derivatives.length;
  if (!animation.derivatives.length) return;
  const names = parameters.map((p) => p.name), listed = [...choice.options].map((option) => option.text);
  if (names.join("\n") !== listed.join("\n")) choice.replaceChildren(...names.map((name, k) => new Option(name, k)));
  element("band-choice").hidden = !tolerances;
  element("bands-choice").hidden = !bands;
  const update = () => {
    influence.parameter = Number(choice.value);
    influence.percent = Number(element("change").value);
    influence.mode = document.querySelector("input[name=influence]:checked").value;
    const of = tolerances && element("band-of").value;
    element("change-text").textContent = animation.changeText;
    const shown = element("show-bands").checked, { name } = parameters[influence.parameter], by = animation.changeText.replace(/^[+−]/, "± ");
    if (!shown) plots.setBand(null);
    else plots.setBand(of === "tolerances" ? { deviations: sigmas } : { parameter: influence.parameter, change: animation.change });
    const note = of === "tolerances" ? `± ${sigmas} standard deviations due to all tolerances` : `${name} ${by}`;
    for (const place of document.querySelectorAll(".band-note")) place.textContent = shown ? `Bands: ${note}, to first order.` : "";
    player.redraw();
  };
  for (const id of ["parameter", "show-bands", "band-of"]) element(id).onchange = update;
  element("change").oninput = update;
  for (const radio of document.querySelectorAll("input[name=influence]")) radio.onchange = update;
  update();
}
