// Quantities for people: engineering prefixes, few digits.

import { engineeringUnit, readable } from "./plot_units.js";

export function quantity(number, unit, digits = 4) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "–";
  const { factor, unit: shown } = engineeringUnit(Math.abs(number), unit);
  return `${readable(number / factor, digits)} ${shown}`.trim();
}
