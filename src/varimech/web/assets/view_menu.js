// Controls of the view: standard directions, perspective, transparency, section, pictures, film.

import { connectFilm } from "./film.js";
import { download, fileName, pictureOf, svgOf } from "./pictures.js";
import { element } from "./player.js";

const WHOLE = 100; // percentage of the mechanism that is shown without a section

// `title`: of the mechanism, for file names
export function connectViewMenu(player, title) {
  const { animation } = player, file = fileName(title, "mechanism");
  const show = () => {
    element("solid-view").hidden = !animation.camera.spatial;
    element("solid-only").hidden = !animation.solid;
    element("save-svg").hidden = Boolean(animation.solid);
  };
  show();
  element("show-solid").addEventListener("change", show);
  for (const button of document.querySelectorAll("[data-view]")) {
    button.onclick = () => {
      animation.camera.turnTo(button.dataset.view);
      player.redraw();
    };
  }
  element("perspective").onchange = (event) => {
    animation.camera.perspective = event.target.checked;
    player.redraw();
  };
  element("opacity").oninput = (event) => {
    animation.solidView.opacity = 1 - Number(event.target.value) / 100;
    player.redraw();
  };
  for (const id of ["section", "section-axis"]) element(id).oninput = () => {
    animation.solidView.section = sectionOf(animation, Number(element("section-axis").value), Number(element("section").value));
    player.redraw();
  };
  element("save-png").onclick = () => pictureOf(animation).toBlob((blob) => download(`${file}.png`, blob, "image/png"));
  element("save-svg").onclick = () => download(`${file}.svg`, svgOf(animation), "image/svg+xml");
  connectFilm(player, file);
}

// the plane beyond which nothing is drawn: normal and distance; zeros for no section
export function sectionOf({ camera: { box, size } }, axis, percent) {
  if (percent >= WHOLE) return [0, 0, 0, 0];
  const [low, high] = [box[0][axis] - 0.05 * size, box[1][axis] + 0.05 * size];
  return Object.assign([0, 0, 0, 0], { [axis]: 1, 3: -(low + ((high - low) * percent) / WHOLE) });
}
