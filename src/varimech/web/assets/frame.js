// A page in a frame of a notebook: how it is reached from there.

// `open` is called with the port over which messages come and go, once the notebook has sent it
export function framed(open) {
  window.addEventListener("message", ({ source, data, ports }) => {
    if (source === window.parent && data === "varimech" && ports.length) open(ports[0]);
  });
}
