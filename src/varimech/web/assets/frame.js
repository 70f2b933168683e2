// A page in a frame of a notebook: its connection to the notebook.

// `open` is called with the message port, once the notebook has sent it
export function framed(open) {
  window.addEventListener("message", ({ source, data, ports }) => {
    if (source === window.parent && data === "varimech" && ports.length) open(ports[0]);
  });
}
