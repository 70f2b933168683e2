// A pen that writes SVG: the subset of a canvas context that drawings use.

const escapeXml = (text) => text.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const near = (x) => Number(x.toFixed(2));

export class SvgPen {
  // `measure`: a canvas context that measures widths of texts
  constructor(width, height, background, measure) {
    Object.assign(this, { width, height, background, measure, path: "", parts: [], moves: "", saved: [], globalAlpha: 1, lineWidth: 1, lineCap: "butt", lineJoin: "miter" });
    Object.assign(this, { fillStyle: "#000000", strokeStyle: "#000000", textAlign: "left", textBaseline: "middle", font: "13px sans-serif" });
  }

  clearRect() {
    this.parts = [];
  }

  beginPath() {
    this.path = "";
  }

  closePath() {
    this.path += "Z";
  }

  moveTo(x, y) {
    this.path += `M${near(x)} ${near(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${near(x)} ${near(y)}`;
  }

  bezierCurveTo(...places) {
    this.path += `C${places.map(near).join(" ")}`;
  }

  arc(x, y, radius, from, to) {
    const at = (angle) => `${near(x + radius * Math.cos(angle))} ${near(y + radius * Math.sin(angle))}`, middle = (from + to) / 2, r = near(radius);
    this.path += `${this.path ? "L" : "M"}${at(from)}A${r} ${r} 0 0 1 ${at(middle)}A${r} ${r} 0 0 1 ${at(to)}`;
  }

  roundRect(x, y, width, height, radius) {
    const [w, h, r] = [width - 2 * radius, height - 2 * radius, radius], corner = (dx, dy) => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
    this.path += `M${near(x + r)} ${near(y)}h${near(w)}${corner(r, r)}v${near(h)}${corner(-r, r)}h${near(-w)}${corner(-r, -r)}v${near(-h)}${corner(r, -r)}Z`;
  }

  fillRect(x, y, width, height) {
    this.add("rect", `x="${near(x)}" y="${near(y)}" width="${near(width)}" height="${near(height)}" fill="${this.fillStyle}"`);
  }

  save() {
    this.saved.push(this.moves);
  }

  restore() {
    this.moves = this.saved.pop();
  }

  translate(x, y) {
    this.moves += `translate(${near(x)} ${near(y)})`;
  }

  rotate(angle) {
    this.moves += `rotate(${near((angle * 180) / Math.PI)})`;
  }

  fill() {
    this.add("path", `d="${this.path}" fill="${this.fillStyle}"`);
  }

  stroke() {
    this.add("path", `d="${this.path}" fill="none" ${this.line()}`);
  }

  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  strokeText(text, x, y) {
    this.write(text, x, y, `fill="none" ${this.line()}`);
  }

  fillText(text, x, y) {
    this.write(text, x, y, `fill="${this.fillStyle}"`);
  }

  write(text, x, y, look) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign], [, weight, size, family] = this.font.match(/^(\d+ )?(\S+) (.+)$/);
    this.add("text", `x="${near(x)}" y="${near(y)}" text-anchor="${anchor}" dominant-baseline="central" font-weight="${(weight || "400").trim()}" font-size="${size}" font-family="${family}" ${look}`, escapeXml(text));
  }

  line() {
    return `stroke="${this.strokeStyle}" stroke-width="${near(this.lineWidth)}" stroke-linecap="${this.lineCap}" stroke-linejoin="${this.lineJoin}"`;
  }

  add(kind, look, content = "") {
    const opacity = this.globalAlpha < 1 ? ` opacity="${near(this.globalAlpha)}"` : "", moves = this.moves ? ` transform="${this.moves}"` : "";
    this.parts.push(`<${kind} ${look}${opacity}${moves}>${content}</${kind}>`);
  }

  get text() {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="${this.background}"/>${this.parts.join("")}</svg>\n`;
  }
}
