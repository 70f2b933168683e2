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
  const { canvas, solid, ink } = animation, picture = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height }), pen = picture.getContext("2d");
  animation.draw(); // WebGL forgets a picture once it is shown
  pen.fillStyle = ink.stage;
  pen.fillRect(0, 0, picture.width, picture.height);
  if (solid) pen.drawImage(solid.canvas, 0, 0);
  pen.drawImage(canvas, 0, 0);
  return picture;
}

// the drawing in lines as SVG
export function svgOf(animation) {
  const { pen, camera, ink } = animation, svg = new SvgPen(camera.width, camera.height, ink.stage, pen);
  animation.pen = svg;
  animation.draw();
  animation.pen = pen;
  return svg.text;
}
