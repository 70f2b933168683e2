// A page in a notebook, for anywidget: in a separate frame, isolated from the styles and names of the notebook, which it reaches by messages only.

const HIGHEST = 900; // largest height of a frame (pixels): longer content scrolls within it
const SHARED = ["time", "playing"]; // traits that a page sets and follows, if its widget has them

function render({ model, el }) {
  const frame = document.createElement("iframe"), name = Math.random().toString(36).slice(2);
  let port = null;
  const tell = (message, buffers = []) => port?.postMessage(message, buffers);
  const take = ({ data: { set, send, height } }) => {
    if (height) frame.style.height = `${Math.min(HIGHEST, Math.ceil(height))}px`;
    if (set) {
      for (const [key, value] of Object.entries(set)) model.set(key, value);
      model.save_changes();
    }
    if (send) model.send({ page: name, ...send });
  };
  const passed = ({ page }, buffers) => {
    if (page !== name) return;
    const [{ buffer, byteOffset, byteLength }] = buffers, bytes = buffer.slice(byteOffset, byteOffset + byteLength);
    tell({ buffer: bytes }, [bytes]);
  };
  const shared = SHARED.filter((key) => model.get(key) !== undefined);
  const state = (keys) => tell({ state: Object.fromEntries(keys.map((key) => [key, model.get(key)])) });
  const changes = shared.map((key) => [`change:${key}`, () => state([key])]);
  model.on("msg:custom", passed);
  for (const [change, act] of changes) model.on(change, act);
  frame.onload = () => { // again whenever the notebook moves the frame
    const channel = new MessageChannel();
    port?.close();
    port = channel.port1;
    port.onmessage = take;
    frame.contentWindow.postMessage("varimech", "*", [channel.port2]);
    if (shared.length) state(shared);
  };
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = model.get("title");
  Object.assign(frame.style, { width: "100%", height: `${model.get("height")}px`, border: "0", display: "block" });
  frame.srcdoc = model.get("page");
  el.append(frame);
  return () => {
    model.off("msg:custom", passed);
    for (const [change, act] of changes) model.off(change, act);
    model.send({ page: name, what: "closed" });
    port?.close();
  };
}

export default { render };
