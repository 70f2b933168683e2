// The connection to the studio: messages with arrays, and requests of which only the newest waits.

const AGAIN = 800; // ms until the next attempt to connect

// a message as plain data with typed arrays; see studio/messages.py
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const begin = 4 + length, types = { f4: Float32Array, f8: Float64Array };
  const arrays = header.arrays.map(({ type, at, length: count }) => new types[type](buffer, begin + at, count));
  const filled = (value) => {
    if (Array.isArray(value)) return value.map(filled);
    if (value === null || typeof value !== "object") return value;
    if (Number.isInteger(value.array)) return arrays[value.array];
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
  };
  delete header.arrays;
  return filled(header);
}

export class Link {
  // `receive` is called with each message, `status` with whether there is a connection
  constructor(receive, status) {
    Object.assign(this, { receive, status, open: false, waiting: null, answered: true });
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(`ws://${location.host}/live`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.change(true);
    this.socket.onclose = () => {
      this.change(false);
      setTimeout(() => this.connect(), AGAIN);
    };
    this.socket.onmessage = ({ data }) => {
      const message = unpack(data);
      if (["motion", "failed", "refused"].includes(message.kind)) this.answer();
      this.receive(message);
    };
  }

  change(open) {
    this.open = open;
    this.answered = true;
    this.waiting = null;
    this.status(open);
  }

  send(kind, content = {}) {
    if (this.open) this.socket.send(JSON.stringify({ kind, ...content }));
  }

  // a request that a later one may replace, as long as an earlier one is not answered
  sendNewest(kind, content) {
    this.waiting = [kind, content];
    if (this.answered) this.flush();
  }

  // a request after those that wait
  sendLast(kind, content) {
    this.waiting = null;
    this.send(kind, content);
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
