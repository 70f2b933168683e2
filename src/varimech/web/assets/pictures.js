// Export of the view, and downloads of files.

import { SvgPen } from "./svg_pen.js";

export function download(name, content, type) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// a file name from a title
export function fileName(title, otherwise) {
  return title.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "") || otherwise;
}

// the present view, as a canvas
export function pictureOf(animation) {
  const { width, height } = animation.canvas, picture = Object.assign(document.createElement("canvas"), { width, height });
  animation.draw(); // WebGL discards a picture once it is shown
  paint(animation, picture.getContext("2d"));
  return picture;
}

// the last drawing, on the background colour of the page
export function paint({ canvas, solid, ink }, pen) {
  pen.fillStyle = ink.stage;
  pen.fillRect(0, 0, pen.canvas.width, pen.canvas.height);
  if (solid) pen.drawImage(solid.canvas, 0, 0);
  pen.drawImage(canvas, 0, 0);
}

// the line drawing as SVG
export function svgOf(animation) {
  const { pen, camera, ink } = animation, svg = new SvgPen(camera.width, camera.height, ink.stage, pen);
  animation.pen = svg;
  animation.draw();
  animation.pen = pen;
  return svg.text;
}
