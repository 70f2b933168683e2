// Quantities in readable form: engineering prefixes, few digits; parameters in the units of the text.

import { RAISED, engineeringUnit, readable } from "./plot_units.js";

const PLAIN_NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

function written(number, { factor, unit }, digits) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "–";
  return `${readable(number / factor, digits)}${unit.startsWith("10") ? "·" : " "}${unit.replaceAll("*", "·")}`.trim();
}

export function quantity(number, unit, digits = 4) {
  return written(number, engineeringUnit(Math.abs(number), unit), digits);
}

// {factor, unit} for all numbers about a parameter: the unit in the text, or one that suits the range of its slider
function parameterUnit({ shown, unit, low, high, now }) {
  return shown || engineeringUnit(Math.max(...[low, high, now].map(Math.abs)), unit);
}

export function quantityOf(parameter, number, digits = 4) {
  return written(number, parameterUnit(parameter), digits);
}

// input for a parameter: a number alone is in the displayed unit, anything else is a text
export function typed(parameter, text) {
  const plain = text.trim().replace("−", "-").replace("µ", "u").replace(/\s*·\s*10(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/, (_, sign, digits) => `e${sign && "-"}${[...digits].map((c) => RAISED.indexOf(c)).join("")}`);
  return PLAIN_NUMBER.test(plain) ? Number((Number(plain) * parameterUnit(parameter).factor).toPrecision(15)) : plain;
}
