// Time series in typed arrays.

// decodes a text in base64; typed arrays are returned unchanged
export function decode(text) {
  if (typeof text !== "string") return text;
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return new Float32Array(bytes.buffer);
}

// time series, (frame, size); with `rates` cubic between frames, otherwise linear, or constant if frames are too far apart
export class Track {
  constructor(time, values, size, rates = null, stepwise = false) {
    Object.assign(this, { time, values, size, rates, stepwise, last: 0 });
  }

  // writes the row at a time, from index `first` on, into `into` as far as it fits
  at(time, into, first = 0) {
    const T = this.time, n = T.length;
    let k = this.last;
    if (!(T[k] <= time && (k + 1 >= n || time < T[k + 1]))) {
      let low = 0, high = n - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (T[middle] <= time) low = middle;
        else high = middle - 1;
      }
      k = this.last = low;
    }
    const next = Math.min(k + 1, n - 1), gap = T[next] - T[k];
    const inside = gap > 0 ? Math.max(0, Math.min(1, (time - T[k]) / gap)) : 0, s = this.stepwise ? Math.round(inside) : inside;
    const a = k * this.size + first, b = next * this.size + first, V = this.values, R = this.rates;
    if (!R) {
      for (let i = 0; i < into.length; i++) into[i] = V[a + i] + s * (V[b + i] - V[a + i]);
      return into;
    }
    const to = s * s * (3 - 2 * s), leave = s * (1 - s) * (1 - s) * gap, arrive = s * s * (s - 1) * gap; // Hermite
    for (let i = 0; i < into.length; i++) into[i] = V[a + i] + to * (V[b + i] - V[a + i]) + leave * R[a + i] + arrive * R[b + i];
    return into;
  }
}
