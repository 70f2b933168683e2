// Numbers on axes and in read-outs: engineering prefixes where a unit takes them, powers of ten elsewhere. web/units.py has the same rules for texts.

const PREFIXES = { "-9": "n", "-6": "µ", "-3": "m", 3: "k", 6: "M", 9: "G" };
const SMALL = /^(m|s|rad|N|J|W|Pa|Hz|V|A)(?![^·/])/; // units with prefixes of small numbers
const LARGE = /^(m$|(N|J|W|Pa|Hz|V|A)(?![^·/]))/; // kN, but neither krad nor km/s²
export const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function superscript(exponent) {
  return String(exponent).replace("-", "⁻").replace(/\d/g, (digit) => RAISED[digit]);
}

// {factor, unit} for numbers up to `largest`: a number is shown as number / factor, followed by the unit
export function engineeringUnit(largest, unit) {
  const plain = { factor: 1, unit };
  if (!(largest > 0) || !Number.isFinite(largest) || (largest >= 0.1 && largest < 1e3)) return plain;
  const exponent = 3 * Math.floor(Math.log10(largest) / 3), factor = 10 ** exponent;
  if (unit === "kg" && exponent < 0 && exponent > -12) return { factor, unit: (PREFIXES[exponent + 3] || "") + "g" };
  if (PREFIXES[exponent] && (exponent < 0 ? SMALL : LARGE).test(unit)) return { factor, unit: PREFIXES[exponent] + unit };
  if (largest >= 1e-3 && largest < 1e5) return plain;
  return { factor, unit: `10${superscript(exponent)} ${unit}`.trim() };
}

// a number with a given number of decimals; with a true minus, and no negative zero
export function fixed(number, decimals) {
  const text = number.toFixed(Math.max(0, Math.min(15, decimals)));
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

// a number with a given number of significant digits, large and small ones with a power of ten
export function readable(number, digits = 4) {
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "–" : number > 0 ? "∞" : "−∞";
  const [mantissa, exponent] = String(Number(number.toPrecision(digits))).split("e");
  return (exponent ? `${mantissa}·10${superscript(Number(exponent))}` : mantissa).replace("-", "−");
}
