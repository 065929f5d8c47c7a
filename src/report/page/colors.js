// Colors of Okabe and Ito (2008), which stay apart for all kinds of color vision, in both schemes.

export const dark = () => matchMedia('(prefers-color-scheme: dark)').matches;

export function onSchemeChange(call) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', call);
}

export const okabe = {
  orange: '#e69f00',
  sky: '#56b4e9',
  green: '#009e73',
  yellow: '#f0e442',
  blue: '#0072b2',
  vermillion: '#d55e00',
  purple: '#cc79a7',
};

export function palette() {
  const night = dark();
  return {
    background: night ? '#1b1e22' : '#f4f4f1',
    ground: night ? '#24282d' : '#eeeeea',
    grid: night ? '#363c43' : '#d3d3cc',
    text: night ? '#d8dadd' : '#33373c',
    faint: night ? '#8a9099' : '#7b8087',
    rule: night ? '#333941' : '#e3e3de',
    left: night ? '#4a9fd8' : '#3f8fc9',
    right: night ? '#e0a040' : '#e6a73c',
    middle: night ? '#b9b4ac' : '#c4bdb4',
    reference: night ? '#2fc49a' : okabe.green,
    recording: night ? '#d4d8dd' : '#4d545c',
    tracking: okabe.purple,
    ragdoll: night ? '#b7a37c' : '#8a7340',
    push: night ? '#ff5c7a' : '#b0003a',
    force: night ? '#f0782a' : okabe.vermillion,
    simulated: night ? okabe.sky : okabe.blue,
    object: night ? '#5b646e' : '#c9c5ba',
  };
}

// Of the characters of a scene, far apart from one another and from the arrows of forces.
const fighters = ['#5b9fd2', '#e08a60', '#77b892', '#bd8fbb', '#cdb95c'];
export function characterColor(number) {
  return fighters[number % fighters.length];
}

// Lines of one chart that have no meaning of their own.
export function series(k) {
  const night = dark();
  const list = night
    ? [okabe.sky, okabe.orange, '#2fc49a', okabe.purple, '#f0782a', okabe.yellow, '#9aa3ad']
    : [okabe.blue, okabe.orange, okabe.green, okabe.purple, okabe.vermillion, '#8c8200', '#5f666e'];
  return list[k % list.length];
}

// Viridis at six places; the most is dark by day and bright by night, the least is near the ground's own tone.
const viridis = [
  [68, 1, 84],
  [65, 68, 135],
  [42, 120, 142],
  [34, 168, 132],
  [122, 209, 81],
  [253, 231, 37],
];

export function heat(share) {
  const bounded = Math.max(0, Math.min(1, share));
  const x = (dark() ? 0.25 + 0.75 * bounded : 1 - bounded) * (viridis.length - 1);
  const i = Math.min(viridis.length - 2, Math.floor(x));
  return viridis[i].map((value, k) => (value + (x - i) * (viridis[i + 1][k] - value)) / 255);
}

export function heatGradient() {
  const stops = [];
  for (let k = 0; k <= 5; ++k) stops.push(`rgb(${heat(k / 5).map((v) => Math.round(255 * v)).join(',')})`);
  return `linear-gradient(to right, ${stops.join(',')})`;
}
