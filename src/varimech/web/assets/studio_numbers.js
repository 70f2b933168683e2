// Objectives, and the most influential parameter of each.

import { quantity } from "./studio_units.js";

// change of an objective for a change of a parameter by 1 % of its value, or of its range
export function effects(derivatives, parameters) {
  const byName = new Map(parameters.map((p) => [p.name, p]));
  const scale = (p) => 0.01 * (Math.abs(p.now) || p.high - p.low);
  return Object.entries(derivatives)
    .filter(([name]) => byName.has(name))
    .map(([name, slope]) => ({ name, slope, change: slope * scale(byName.get(name)) }))
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
}

export class Numbers {
  // `aim` is called with an objective and its target value
  constructor(place, aim) {
    Object.assign(this, { place, aim, latest: null });
  }

  unitOf(objective) {
    return ((this.latest ? this.latest[0] : []).find(({ name }) => name === objective) || { unit: "" }).unit;
  }

  // `without`: parameters whose derivatives are not computed
  update(objectives, parameters, without = []) {
    this.latest = [objectives, parameters, without];
    if (this.place.contains(document.activeElement)) return; // do not replace a value that is being typed
    const units = new Map(parameters.map((p) => [p.name, p.unit]));
    const cards = objectives.map((objective) => this.card(objective, effects(objective.derivatives, parameters), units));
    if (!cards.length) {
      const hint = document.createElement("p");
      hint.className = "soft";
      hint.textContent = !parameters.length ? "Objectives are shown with their derivatives once the model has parameters." : "No objectives. State some under studies: objectives: in the text, such as travel: {range: displacement(\"guide\")}.";
      cards.push(hint);
    }
    if (objectives.length && without.length) {
      const note = document.createElement("p");
      note.className = "soft";
      note.textContent = `Without derivatives: ${without.join(", ")}. Name others under studies: sensitivity: wrt:.`;
      cards.push(note);
    }
    this.place.replaceChildren(...cards);
  }

  card({ name, value, unit }, all, units) {
    const card = document.createElement("div"), largest = Math.max(...all.map((e) => Math.abs(e.change)), 1e-300);
    card.className = "number";
    card.innerHTML = '<div><span class="name"></span></div><strong></strong><label class="aim">aim at <input inputmode="decimal"></label><div class="effect"></div>';
    card.querySelector(".name").textContent = name;
    card.querySelector("strong").textContent = quantity(value, unit, 5);
    const field = card.querySelector("input");
    field.setAttribute("aria-label", `Wanted value of ${name}, ${unit || "1"}`);
    field.placeholder = unit || "1";
    field.onchange = () => {
      if (field.value.trim() && Number.isFinite(Number(field.value))) this.aim(name, Number(field.value));
      field.blur();
    };
    field.onblur = () => setTimeout(() => this.update(...this.latest)); // show values that arrived during typing
    const grid = card.querySelector(".effect");
    for (const { name: parameter, slope, change } of all) {
      const label = document.createElement("span"), area = document.createElement("span"), bar = document.createElement("i"), text = document.createElement("span");
      label.textContent = parameter;
      area.className = "bar-area";
      const share = (Math.abs(change) / largest) * 50;
      bar.className = change < 0 ? "down" : "";
      Object.assign(bar.style, change < 0 ? { right: "50%", width: `${share}%` } : { left: "50%", width: `${share}%` });
      area.append(bar);
      text.textContent = `${change < 0 ? "" : "+"}${quantity(change, unit, 3)}`;
      for (const part of [label, area, text]) part.title = `∂${name}/∂${parameter} = ${quantity(slope, "")} ${unit || "1"} per ${units.get(parameter) || "1"}; shown: +1 % of ${parameter}`;
      grid.append(label, area, text);
    }
    return card;
  }
}
