// One run through the motion as a film, by the browser's own recorder.

import { short } from "./animation.js";
import { download, paint } from "./pictures.js";
import { element } from "./player.js";

// H.264 plays almost everywhere; a level that supports large screens
const FILM_TYPES = ["video/mp4;codecs=avc1.640033", "video/mp4;codecs=avc1.42E033", "video/mp4;codecs=avc1", "video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
const LONGEST_FILM = 20; // s: a longer motion is shown faster
const LAST_PICTURE = 0.2; // s for which the last picture is shown
const LATE = 1; // s: a recorder that is stopped drops frames that it has not compressed yet; without a GPU, it was 0.5 s late
const FILM_BITS = 8e6; // per second: lines stay sharp on a screen of two million pixels

class Film {
  // starts immediately; `progress` gets the completed fraction, `finish` the film, or null and the reason
  constructor(player, type, progress, finish) {
    const { animation: { canvas, duration }, time, playing, plots, onChange } = player, even = (pixels) => pixels - (pixels % 2); // as H.264 needs
    Object.assign(this, { player, duration, before: { time, playing, plots, onChange }, progress, finish, chunks: [], problem: "the browser stopped recording", begin: 0 });
    this.picture = Object.assign(document.createElement("canvas"), { width: even(canvas.width), height: even(canvas.height) });
    this.pen = this.picture.getContext("2d");
    this.rate = Math.max(player.speed, duration / LONGEST_FILM);
    this.recorder = new MediaRecorder(this.picture.captureStream(), { mimeType: type, videoBitsPerSecond: FILM_BITS });
    this.recorder.ondataavailable = ({ data }) => this.chunks.push(data);
    this.recorder.onerror = ({ error }) => this.end(error?.message || "the browser could not record it");
    this.recorder.onstop = () => this.finish(this.problem ? null : new Blob(this.chunks), this.problem);
    this.hide = () => document.hidden && this.end("the page was hidden");
    document.addEventListener("visibilitychange", this.hide);
    player.play(false);
    player.onChange = null; // a notebook does not follow the time of a film
    player.time = 0;
    this.next();
  }

  // a picture is taken in the screen frame in which the player has drawn it: WebGL discards it afterwards
  next() {
    requestAnimationFrame((now) => {
      const { player, duration, recorder, rate, before } = this;
      if (this.ended) return;
      if (player.playing || player.plots !== before.plots || player.animation.duration !== duration) return this.end("another motion was started", false);
      try {
        if (!this.begin) recorder.start();
      } catch (error) {
        return this.end(error.message);
      }
      this.begin ||= now;
      paint(player.animation, this.pen);
      const passed = (now - this.begin) / 1000;
      if (passed > duration / rate + LAST_PICTURE) return this.end("");
      player.time = passed * rate;
      this.progress(Math.min(1, (passed * rate) / duration));
      this.next();
    });
  }

  // restores the state of the player, unless it has been changed meanwhile
  end(problem, restore = true) {
    if (this.ended) return;
    const { player, recorder, before } = this;
    Object.assign(this, { ended: true, problem });
    document.removeEventListener("visibilitychange", this.hide);
    player.onChange = before.onChange;
    if (restore) {
      player.time = before.time;
      player.play(before.playing);
    }
    setTimeout(() => {
      if (recorder.state === "inactive") this.finish(null, problem || "the browser stopped recording");
      else recorder.stop();
      for (const track of recorder.stream.getTracks()) track.stop();
    }, problem ? 0 : 1000 * LATE);
  }
}

// the first format that this browser can record
function filmType() {
  const able = window.MediaRecorder && HTMLCanvasElement.prototype.captureStream;
  return able ? FILM_TYPES.find((type) => MediaRecorder.isTypeSupported(type)) : undefined;
}

// `file`: name without the extension
export function connectFilm(player, file) {
  const button = element("save-film"), note = element("film-note"), label = button.textContent, type = filmType();
  let film = null;
  const finish = (blob, problem) => {
    film = null;
    button.textContent = label;
    if (blob) download(`${file}.${/mp4|webm/.exec(type)[0]}`, blob, type);
    else note.textContent = `No film: ${problem}.`;
  };
  const progress = (share) => {
    const text = `Cancel film, ${Math.floor(100 * share)} %`;
    if (button.textContent !== text) button.textContent = text;
  };
  button.hidden = !type || !player.animation.duration;
  button.onclick = () => {
    if (film) return film.end("recording was cancelled");
    try {
      film = new Film(player, type, progress, finish);
      note.textContent = film.rate > player.speed ? `Recording at ${short(film.rate)}×, so that the film lasts ${LONGEST_FILM} s.` : "";
    } catch (error) {
      finish(null, error.message);
    }
  };
}
