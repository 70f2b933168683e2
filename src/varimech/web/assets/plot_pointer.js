// Mouse, fingers and keys on a plot: read-out, zoom along the horizontal axis, and the time of the animation.

const STILL = 4; // movement (pixels) up to which a press is a click

export function connectPlot(plot) {
  const { box, area } = plot;
  let down = null;
  const place = (event) => {
    const frame = box.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  const zoomable = (event) => plot.spec.kind !== "bars" && event.pointerType !== "touch";
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !plot.size) return;
    down = place(event);
    if (zoomable(event)) box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (!plot.size) return;
    const [px, py] = place(event), dragged = down && zoomable(event) && Math.abs(px - down[0]) > STILL;
    plot.hover(dragged ? null : lookAt(plot, px, py), dragged ? selected(plot, down[0], px) : null);
  });
  box.addEventListener("pointerup", (event) => {
    const [px, py] = place(event), from = down;
    down = null;
    if (!from || !plot.size) return;
    if (Math.hypot(px - from[0], py - from[1]) <= STILL) setTime(plot, px);
    else if (zoomable(event)) zoomTo(plot, selected(plot, from[0], px));
  });
  for (const end of ["pointerleave", "pointercancel"]) {
    box.addEventListener(end, () => {
      if (end === "pointercancel") down = null;
      if (!down) plot.hover(null);
    });
  }
  box.addEventListener("dblclick", () => plot.setZoom(null));
  area.addEventListener("keydown", (event) => onKey(plot, event));
  area.addEventListener("blur", () => plot.size && plot.hover(null));
}

function lookAt(plot, px, py) {
  const { x, y } = plot.view, outside = px < x.from - STILL || px > x.to + STILL || py < y.to - STILL || py > y.from + STILL;
  return outside && plot.spec.kind !== "bars" ? null : plot.view.at(px, py, plot.hidden);
}

function selected(plot, a, b) {
  const { from, to } = plot.view.x, inside = (px) => Math.max(from, Math.min(to, px));
  return [inside(Math.min(a, b)), inside(Math.max(a, b))];
}

function setTime(plot, px) {
  const { x } = plot.view;
  if (plot.spec.over_time && plot.onTime && px >= x.from && px <= x.to) plot.onTime(x.number(px));
}

function zoomTo(plot, [from, to]) {
  plot.hover(null);
  if (to - from > STILL) plot.setZoom([plot.view.x.number(from), plot.view.x.number(to)]);
}

// arrows move the read-out (with shift, further), Enter sets the time, + and − zoom about the read-out, 0 and Escape show everything
function onKey(plot, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !plot.size || event.target !== plot.area) return;
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  if (steps) plot.hover(plot.view.step(plot.found, steps * (event.shiftKey ? 10 : 1), plot.hidden));
  else if (event.key === "Enter" && plot.found && plot.spec.over_time && plot.onTime) plot.onTime(plot.found.x);
  else if ("+-".includes(event.key) && plot.spec.kind !== "bars") zoomAbout(plot, event.key === "+" ? 0.5 : 2);
  else if (event.key === "0") plot.setZoom(null);
  else if (event.key === "Escape") {
    plot.hover(null);
    plot.setZoom(null);
  } else return;
  event.preventDefault();
  event.stopPropagation(); // the arrows step the animation elsewhere
}

function zoomAbout(plot, factor) {
  const { x } = plot.view, middle = plot.found ? x.pixel(plot.found.x) : (x.from + x.to) / 2;
  const ends = [x.from, x.to].map((end) => x.number(middle + factor * (end - middle))), [low, high] = plot.view.whole;
  const zoom = [Math.max(low, ends[0]), Math.min(high, ends[1])];
  plot.setZoom(zoom[0] <= low && zoom[1] >= high ? null : zoom);
}
