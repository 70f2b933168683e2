// Ends of a stroke: at an existing point, on a line at a round angle, or on the grid.

const TURN = Math.PI / 12; // increment of angles to which lines snap (rad)
const CLOSE = 0.035; // deviation (rad) within which lines snap

// {node} or {at}: an end, as sent to the session; `from`: the beginning of the stroke
export function snapped(board, at, { from = null, except = null, free = false } = {}) {
  const node = board.nodeAt(at, except);
  if (node) return { node: node.name, place: node.place };
  const place = board.placeAt(at);
  if (free) return { at: place, place };
  const fine = board.step / 5, onGrid = place.map((x) => Number((Math.round(x / fine) * fine).toPrecision(7)));
  return { at: onGrid, place: onGrid, ...(from ? straight(from, place, onGrid) : {}) };
}

// the position at a round angle from another one, if it is close to that angle
function straight(from, place, onGrid) {
  const dx = place[0] - from[0], dy = place[1] - from[1], angle = Math.atan2(dy, dx), round = Math.round(angle / TURN) * TURN;
  if (Math.abs(angle - round) > CLOSE || Math.hypot(onGrid[0] - from[0], onGrid[1] - from[1]) === 0) return {};
  const upright = Math.round(round / TURN) % 6 === 0;
  const length = Math.hypot(dx, dy), at = upright
    ? (Math.abs(Math.cos(round)) > 0.5 ? [onGrid[0], from[1]] : [from[0], onGrid[1]])
    : [from[0] + length * Math.cos(round), from[1] + length * Math.sin(round)].map((x) => Number(x.toPrecision(7)));
  return { at, place: at };
}

export const endOf = ({ node, at }) => (node ? { node } : { at });

export const spanText = (a, b) => `${Number((Math.hypot(a[0] - b[0], a[1] - b[1]) * 1e3).toPrecision(4))} mm`;

export const angleText = (a, b) => `${Number(((Math.atan2(b[1] - a[1], b[0] - a[0]) * 180) / Math.PI).toFixed(1))}°`;
