// A report in a frame of a notebook: it adapts its height to the content, and shares its time with the notebook.

import { framed } from "./frame.js";
import { opened } from "./report.js";

framed((port) => {
  const { player } = opened, told = { time: null, playing: null };
  const tell = (set) => {
    Object.assign(told, set);
    port.postMessage({ set });
  };
  // while the motion plays, its time is not sent: a busy notebook would get thousands of messages
  const follow = () => {
    if (player.playing !== told.playing) tell({ playing: player.playing });
    if (!player.playing && player.time !== told.time) tell({ time: player.time });
  };
  port.onmessage = ({ data: { state } }) => {
    if (!player || !state) return;
    Object.assign(told, state);
    if ("time" in state && state.time !== player.time) player.time = state.time;
    if ("playing" in state) player.play(state.playing);
  };
  if (player) player.onChange = follow;
  new ResizeObserver(() => port.postMessage({ height: document.body.offsetHeight })).observe(document.body);
});
