// The view as a file, and files as downloads.

import { SvgPen } from "./svg_pen.js";

export function download(name, content, type) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// a file name made of a title
export function fileName(title, otherwise) {
  return title.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "") || otherwise;
}

// what is seen now, as a canvas
export function pictureOf(animation) {
  const { width, height } = animation.canvas, picture = Object.assign(document.createElement("canvas"), { width, height });
  animation.draw(); // WebGL forgets a picture once it is shown
  paint(animation, picture.getContext("2d"));
  return picture;
}

// what has just been drawn, with the colour of the page behind it
export function paint({ canvas, solid, ink }, pen) {
  pen.fillStyle = ink.stage;
  pen.fillRect(0, 0, pen.canvas.width, pen.canvas.height);
  if (solid) pen.drawImage(solid.canvas, 0, 0);
  pen.drawImage(canvas, 0, 0);
}

// the drawing in lines as SVG
export function svgOf(animation) {
  const { pen, camera, ink } = animation, svg = new SvgPen(camera.width, camera.height, ink.stage, pen);
  animation.pen = svg;
  animation.draw();
  animation.pen = pen;
  return svg.text;
}
