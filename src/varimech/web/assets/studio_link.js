// The connection to the studio: messages with arrays, and requests of which only the newest one waits.

import { framed } from "./frame.js";

const AGAIN = 800; // interval (ms) between attempts to connect

// a message as plain data with typed arrays; see studio/messages.py
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const begin = 4 + length, types = { f4: Float32Array, f8: Float64Array };
  const arrays = header.arrays.map(({ type, at, length: count }) => new types[type](buffer, begin + at, count));
  const filled = (value) => {
    if (Array.isArray(value)) return value.map(filled);
    if (value === null || typeof value !== "object") return value;
    if ("" in value) return arrays[value[""]];
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
  };
  delete header.arrays;
  return filled(header);
}

// transport over a web socket, which is reopened when it breaks
function socketChannel(received, changed) {
  let socket = null;
  const connect = () => {
    socket = new WebSocket(`ws://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => changed(true);
    socket.onclose = () => {
      changed(false);
      setTimeout(connect, AGAIN);
    };
    socket.onmessage = ({ data }) => received(data);
  };
  connect();
  return (text) => socket.send(text);
}

// transport through the notebook that contains the page, which is asked for the next message after each message
function notebookChannel(received, changed) {
  let port = null;
  framed((opened) => {
    port = opened;
    port.onmessage = ({ data: { buffer } }) => {
      port.postMessage({ send: { what: "received" } });
      received(buffer);
    };
    port.postMessage({ send: { what: "opened" } });
    changed(true);
  });
  return (text) => port.postMessage({ send: { what: "request", text } });
}

export class Link {
  // `receive` is called with each message, `status` with whether there is a connection
  constructor(receive, status) {
    Object.assign(this, { receive, status, open: false, waiting: null, answered: true, field: null });
    const channel = location.protocol === "about:" ? notebookChannel : socketChannel;
    this.pass = channel((bytes) => this.take(unpack(bytes)), (open) => this.change(open));
  }

  take(message) {
    if (["motion", "failed", "refused"].includes(message.kind)) this.answer();
    if (message.kind === "refused" && this.field) this.field.setAttribute("aria-invalid", "true");
    if (["state", "refused"].includes(message.kind)) this.field = null;
    this.receive(message);
  }

  change(open) {
    this.open = open;
    this.answered = true;
    this.waiting = null;
    this.status(open);
  }

  // `field`: the input field, marked if its value is refused
  send(kind, content = {}, field = null) {
    this.field = field;
    if (this.open) this.pass(JSON.stringify({ kind, ...content }));
  }

  // a request that a later one may replace, as long as an earlier one is unanswered
  sendNewest(kind, content) {
    this.waiting = [kind, content];
    if (this.answered) this.flush();
  }

  // a request that follows those waiting
  sendLast(kind, content, field = null) {
    this.waiting = null;
    this.send(kind, content, field);
  }

  answer() {
    this.answered = true;
    this.flush();
  }

  flush() {
    if (!this.waiting) return;
    const [kind, content] = this.waiting;
    this.waiting = null;
    this.answered = false;
    this.send(kind, content);
  }
}
