// Playing a motion: one time for animation and plots; its buttons, keys, and the view.

export const element = (id) => document.getElementById(id);

export class Player {
  constructor(animation, plots) {
    Object.assign(this, { animation, plots, playing: false, loop: true, wanted: false, onChange: null });
    const speeds = [...element("speed").options].map((option) => Number(option.value));
    this.speed = animation.duration < 2 ? Math.max(speeds[0], ...speeds.filter((s) => s < 1 && animation.duration / s >= 3)) : 1; // slow enough to be visible
    element("speed").value = this.speed;
    this.digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(animation.duration || 1))));
    element("scrub").max = animation.duration;
    this.update();
  }

  get time() {
    return this.animation.time;
  }

  set time(value) {
    this.animation.time = Math.max(0, Math.min(this.animation.duration, value));
    this.update();
  }

  update() {
    element("scrub").value = this.time;
    element("clock").textContent = `${this.time.toFixed(this.digits)} s`;
    this.plots.setTime(this.time);
    this.redraw();
    this.onChange?.();
  }

  // at most once in each screen frame
  redraw() {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      this.animation.draw();
      const legend = this.animation.legend();
      if (element("stage-legend").textContent !== legend) element("stage-legend").textContent = legend;
    });
  }

  play(on) {
    if (on === this.playing || !this.animation.duration) return;
    this.playing = on;
    element("play").textContent = on ? "Pause" : "Play";
    element("play").setAttribute("aria-label", on ? "Pause" : "Play");
    this.onChange?.();
    if (!on) return;
    if (this.time >= this.animation.duration) this.time = 0;
    let last = performance.now();
    const advance = (now) => {
      if (!this.playing) return;
      let time = this.time + (Math.max(0, now - last) / 1000) * this.speed;
      last = now;
      if (time > this.animation.duration) {
        if (this.loop) time %= this.animation.duration;
        else this.play(false);
      }
      this.time = time;
      requestAnimationFrame(advance);
    };
    requestAnimationFrame(advance);
  }
}

// overlays that are available for a motion; a studio receives forces a moment later, and keeps the earlier choices
export function showChoices({ data, before }) {
  for (const kind of ["reactions", "acting"]) if (data[kind] !== undefined) element(`${kind}-choice`).hidden = !data[kind];
  element("before-choice").hidden = !before;
}

export function connectPlayer(player) {
  const { animation } = player;
  element("play").onclick = () => player.play(!player.playing);
  element("scrub").oninput = (event) => {
    player.play(false);
    player.time = Number(event.target.value);
  };
  element("speed").onchange = (event) => (player.speed = Number(event.target.value));
  element("loop").onchange = (event) => (player.loop = event.target.checked);
  for (const name of ["labels", "traces", "centres", "reactions", "acting", "before"]) {
    element(`show-${name}`).onchange = (event) => {
      animation.options[name] = event.target.checked;
      player.redraw();
    };
  }
  showChoices(animation);
  element("playing").hidden = !animation.duration;
  element("clock").hidden = !animation.duration;
  document.addEventListener("keydown", (event) => {
    if (/^(input|select|button|summary)$/i.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = (animation.duration / 200) * (event.shiftKey ? 10 : 1);
    if (event.key === " ") player.play(!player.playing);
    else if (event.key === "ArrowRight") player.time += step;
    else if (event.key === "ArrowLeft") player.time -= step;
    else return;
    if (event.key !== " ") player.play(false);
    event.preventDefault();
  });
}

export function connectView(player) {
  const { animation } = player, { canvas } = animation, pointers = new Map();
  const hint = () => {
    const { spatial } = animation.camera;
    const drags = spatial ? "Drag to turn, shift-drag to move, wheel to zoom" : "Drag to move, wheel to zoom";
    const fingers = spatial ? "Drag sideways to turn, pinch to zoom" : "Drag sideways to move, pinch to zoom";
    element("view-hint").textContent = matchMedia("(pointer: coarse)").matches ? fingers : drags;
  };
  hint();
  element("solid-choice").hidden = !animation.solidView;
  element("show-solid").checked = Boolean(animation.solid);
  element("show-solid").onchange = (event) => {
    animation.setSolid(event.target.checked);
    hint();
    player.redraw();
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    if (others.length) {
      const apart = (at) => Math.hypot(at[0] - others[0][0], at[1] - others[0][1]) || 1;
      const box = canvas.getBoundingClientRect();
      animation.camera.wheel(apart(now) / apart(before), (now[0] + others[0][0]) / 2 - box.left, (now[1] + others[0][1]) / 2 - box.top);
    } else animation.camera.drag(now[0] - before[0], now[1] - before[1], event.shiftKey);
    pointers.set(event.pointerId, now);
    player.redraw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    animation.camera.wheel(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
    player.redraw();
  }, { passive: false });
  element("reset-view").onclick = () => {
    animation.fit();
    player.redraw();
  };
}
