/* Pages that are opened from a folder may not start workers; the search then runs in a hidden frame in place of one.
   The theme's search knows such a frame by the name IFrameWorker. */
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inside = frame.contentWindow;
      const load = (source) => `new Promise((done) => {
        const script = document.createElement("script");
        script.src = ${source};
        script.onload = done;
        document.body.appendChild(script);
      })`;
      const text = `
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => ${load("url")}), Promise.resolve());
      `;
      this.inside.document.open();
      this.inside.document.write(`<body><script>${text}</` + `script><script src="${url}"></` + "script></body>");
      this.inside.document.close();
      window.addEventListener("message", (event) => {
        if (event.source === this.inside) {
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
          if (this.onmessage) this.onmessage(event);
        }
      });
    }
    postMessage(data) {
      const send = () => window.postMessage.call(this.inside, data, "*"); // its own one leads out of the frame
      if (this.inside.document.readyState === "complete") send();
      else this.inside.addEventListener("load", send);
    }
    terminate() {}
  };
}
