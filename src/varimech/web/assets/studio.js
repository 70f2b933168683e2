// The studio: a page that shows the present design, and sends the changes of the designer.

import { Animation } from "./animation.js";
import { connectInfluence } from "./influence.js";
import { download, fileName } from "./pictures.js";
import { Player, connectPlayer, connectView, element, showChoices } from "./player.js";
import { Build } from "./studio_build.js";
import { Designs } from "./studio_designs.js";
import { Handles } from "./studio_handles.js";
import { Link } from "./studio_link.js";
import { ModesPane } from "./studio_modes.js";
import { Numbers } from "./studio_numbers.js";
import { LivePlots } from "./studio_plots.js";
import { Sliders } from "./studio_sliders.js";
import { TextPane } from "./studio_text.js";
import { Tolerances } from "./studio_tolerances.js";
import { connectViewMenu } from "./view_menu.js";

class Studio {
  constructor() {
    this.link = new Link((message) => this.receive(message), (open) => this.connected(open));
    this.sliders = new Sliders(element("sliders"), this.link);
    this.build = new Build(this.link);
    this.numbers = new Numbers(element("numbers"), (objective, value) => this.link.send("pull", { objective, value, over: this.sliders.following(), final: true }));
    this.tolerances = new Tolerances(element("tolerances"), this.link);
    this.designs = new Designs(element("designs"), this.link);
    this.modes = new ModesPane(element("modes"), this.link, (data) => this.animateMode(data));
    this.handles = new Handles(element("stage"), this.link, () => this.player && !this.mode && this.player.animation, () => this.sliders.following(), (objective) => this.numbers.unitOf(objective));
    this.text = new TextPane(element("source"), element("lines"), element("mistake"), this.link);
    this.plots = new LivePlots(element("plots"), (time) => this.player && (this.player.time = time));
    this.parameters = [];
    this.shown = 0; // revision of the design that is drawn
    this.drawn = []; // times at which changes were drawn, for measurements
    this.connectTools();
    this.connectTabs();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.plots.theme();
      this.tolerances.theme();
      this.modes.theme();
      if (this.player) {
        this.player.animation.theme();
        this.player.redraw();
      }
    });
  }

  connected(open) {
    element("status").textContent = open ? "" : "connection lost; trying again …";
    document.body.classList.toggle("offline", !open);
    this.text.connected();
  }

  receive(message) {
    const act = { state: this.state, motion: this.motion, derivatives: this.motion, numbers: this.count, tolerances: this.deviations, samples: this.distributions, designs: this.compared, modes: this.smallMotions, locus: this.rootLocus, failed: this.failed, refused: this.refused }[message.kind];
    if (act) act.call(this, message);
  }

  state(state) {
    if (!this.before && state.problem) element("tab-text").click(); // a file with an error shows it immediately
    element("tab-text").classList.toggle("mistaken", Boolean(state.problem));
    this.restore(state);
    this.parameters = state.parameters;
    element("name").textContent = state.name || "Studio";
    document.title = `${state.changed ? "• " : ""}${state.name || "Studio"}`;
    element("file").textContent = state.file ? `${state.file}${state.changed ? ", changed" : ""}` : "no file";
    element("undo").disabled = !state.can_undo;
    element("redo").disabled = !state.can_redo;
    element("revert").disabled = !state.file || !state.changed;
    element("save").disabled = Boolean(state.file) && !state.changed;
    element("save").textContent = state.file ? "Save" : "Download";
    element("save").title = state.file ? "Write the file (Ctrl+S)" : "Keep the model as a file (Ctrl+S)";
    element("no-parameters").hidden = state.parameters.length > 0 || Boolean(state.problem);
    element("status").textContent = "";
    this.sliders.update(state.parameters);
    this.tolerances.setParameters(state.parameters);
    this.tolerances.setJob(state.job);
    this.designs.setState(state);
    this.modes.setState(state);
    this.handles.show(state.handle);
    this.text.update(state.text, state.problem, state.revision);
    this.build.update(state);
  }

  // a restarted studio has the text of the file: changes that were not saved exist only here
  restore(state) {
    const before = this.before;
    this.before = state;
    if (before && before.session !== state.session) this.shown = 0; // another studio starts counting again
    if (!before || before.session === state.session || before.source !== state.source) return;
    if (before.changed && before.text !== state.text && !this.text.unsent) this.link.send("edit", { text: before.text });
  }

  // a new motion of the mechanism, with derivatives when they are available
  motion({ kind, animation, parameters, plots, events, revision }) {
    if (kind === "derivatives" && revision < this.shown) return; // of a design that is no longer shown
    this.shown = revision;
    element("failure").hidden = true;
    if (animation.sensitivity) this.derived = { sensitivity: animation.sensitivity, parameters };
    else if (this.derived && this.places === animation.points.join("\n") + animation.dimension) {
      animation.sensitivity = this.derived.sensitivity; // of the previous design, until those of this one arrive
      parameters = this.derived.parameters;
    }
    this.places = animation.points.join("\n") + animation.dimension;
    this.motionNow = { animation, parameters };
    if (!this.player) this.begin(animation, parameters);
    else if (!this.mode) this.player.animation.setData(animation, parameters);
    this.plots.parameters = parameters;
    this.plots.update(plots, events);
    showChoices(this.player.animation);
    if (!this.mode) this.showMotion();
    requestAnimationFrame(() => this.drawn.push({ revision, time: performance.now() }));
  }

  showMotion() {
    element("scrub").max = this.player.animation.duration;
    connectInfluence(this.player, {});
    this.player.update();
    this.handles.follow();
  }

  // a mode moves in place of the mechanism until `data` is null, which restores the previous view
  animateMode(data) {
    const { player } = this, before = this.mode;
    if (!player || (!data && !before)) return;
    const { animation } = player;
    if (data && !before) {
      this.mode = { time: player.time, speed: player.speed, playing: player.playing, loop: player.loop, plots: player.plots };
      Object.assign(player, { speed: 1, loop: true, plots: { setTime() {} } });
      animation.influence.mode = "off";
    }
    document.body.classList.toggle("mode", Boolean(data));
    if (data) {
      animation.setData(data, []);
      player.play(true);
      return;
    }
    player.play(false);
    this.mode = null;
    animation.setData(this.motionNow.animation, this.motionNow.parameters);
    Object.assign(player, { speed: before.speed, loop: before.loop, plots: before.plots });
    player.time = before.time;
    this.showMotion();
    player.play(before.playing);
  }

  begin(animation, parameters) {
    this.player = new Player(new Animation(element("stage"), animation, parameters), this.plots);
    connectPlayer(this.player);
    connectView(this.player);
    connectViewMenu(this.player, element("name").textContent);
    new ResizeObserver(() => {
      this.player.animation.resize();
      this.player.animation.draw();
    }).observe(element("stage"));
  }

  count({ objectives, without }) {
    this.numbers.update(objectives, this.parameters, without);
  }

  deviations({ objectives }) {
    this.tolerances.setMoments(objectives);
  }

  distributions({ objectives }) {
    this.tolerances.setSamples(objectives);
  }

  compared({ designs }) {
    this.designs.setDesigns(designs);
  }

  smallMotions(message) {
    this.modes.setModes(message);
  }

  rootLocus(message) {
    this.modes.setLocus(message);
  }

  failed({ message }) {
    element("failure").textContent = message;
    element("failure").hidden = false;
  }

  refused({ message }) {
    element("status").textContent = message;
  }

  connectTools() {
    for (const kind of ["undo", "redo", "revert"]) element(kind).onclick = () => this.link.send(kind);
    element("save").onclick = () => this.save();
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey)) return;
      const key = event.key.toLowerCase(), inText = event.target.tagName === "TEXTAREA";
      if (key === "s") this.save();
      else if (key === "z" && !inText) this.link.send(event.shiftKey ? "redo" : "undo");
      else if (key === "y" && !inText) this.link.send("redo");
      else return;
      event.preventDefault();
    });
  }

  // a studio that was opened without a file cannot save
  save() {
    if (!this.before) return;
    if (this.before.file) this.link.send("save");
    else download(`${fileName(this.before.name, "mechanism")}.yaml`, this.text.source.value, "application/yaml");
  }

  connectTabs() {
    const tabs = [...document.querySelectorAll("[role=tab]")];
    const choose = (chosen) => {
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", String(tab === chosen));
        element(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
      }
      this.text.number();
      this.modes.setOpen(!element("modes").hidden);
      for (const [what, id] of [["samples", "tolerances"], ["designs", "designs"], ["modes", "modes"], ["locus", "modes"]]) this.link.send("watch", { what, on: !element(id).hidden });
    };
    for (const tab of tabs) tab.onclick = () => choose(tab);
  }
}

window.studio = new Studio();
