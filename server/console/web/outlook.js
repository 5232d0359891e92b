// The forecast of all databases that the clock and the overview share: both look equally far
// ahead, so that one question to the server answers both.
import { el, fill, admin, breathe, pause, run, state, ms } from './lib.js';

const horizons = [
  [3600, 'Hour'],
  [86400, 'Day'],
  [604800, 'Week'],
  [7776000, '90 days'],
];
export const parts = 96; // of the horizon
export const outlook = { seconds: 3600, last: undefined };

const watchers = new Set();
let extra = {},
  asking,
  again = false;

// short asks for the short form of the forecast of all databases.
export async function short(options) {
  const f = await admin({ expirationStats: 1, top: 1, ...options });
  for (const p of f.totals.policies) p.next = ms(p.nextDue) ?? Infinity;
  for (const c of f.collections)
    for (const p of c.policies ?? []) p.next = ms(p.nextDue) ?? Infinity;
  return f;
}

// watch calls a function with each new forecast, or with an error, until its result is called.
export function watch(fn) {
  watchers.add(fn);
  return () => watchers.delete(fn);
}

// also sets what the page asks besides the totals: which collections to list, and how many.
export function also(options) {
  extra = options;
}

// refresh asks now. Who asks while a question is under way shares one more question.
export function refresh() {
  if (asking) {
    again = true;
    return asking;
  }
  asking = ask().finally(() => {
    asking = undefined;
  });
  return asking;
}

// ensure asks if nobody does.
export const ensure = () => asking ?? (outlook.last ? undefined : refresh());

async function ask() {
  do {
    again = false;
    const seconds = outlook.seconds,
      begin = performance.now();
    let f, error;
    try {
      f = await short({ ...extra, horizonSeconds: seconds, buckets: parts });
    } catch (e) {
      error = e;
    }
    outlook.took = performance.now() - begin;
    await breathe();
    if (again) continue; // for something else by now
    if (f) {
      f.seconds = seconds;
      outlook.last = f;
      state.now = ms(f.now);
    }
    for (const fn of [...watchers]) {
      if (watchers.has(fn)) fn(f, error);
      await breathe();
    }
  } while (again);
}

// look changes how far ahead to look.
function look(seconds) {
  outlook.seconds = seconds;
  dispatchEvent(new Event('horizon'));
  return refresh();
}

// turn asks every two seconds, or less often if the answer takes long, while anything is shown
// that needs it.
async function turn() {
  const begin = performance.now();
  if (!document.hidden && watchers.size) await refresh();
  setTimeout(turn, pause(2000, begin));
}
turn();

// picker is the choice of how far to look ahead. There is one: with the clock, whose slider is as
// long, or with the chart of a page if there is no clock.
export function picker() {
  const box = el('div', { class: 'row', role: 'group', 'aria-label': 'How far to look ahead' });
  const draw = () =>
    fill(
      box,
      horizons.map(([s, text]) =>
        el(
          'button',
          { type: 'button', 'aria-pressed': String(s === outlook.seconds), onclick: () => look(s) },
          text,
        ),
      ),
    );
  addEventListener('horizon', function changed() {
    if (box.isConnected) draw();
    else removeEventListener('horizon', changed);
  });
  draw();
  return box;
}

// ownPicker is the choice of a page without a clock.
export const ownPicker = () => !state.session.testClock && picker();

// monitor asks for the passes alone: of a database in which nothing expires.
export const monitor = () =>
  run('local', { expirationStats: 1, buckets: 1, passes: true }).catch(() =>
    admin({ expirationStats: 1, top: 1, buckets: 1, passes: true }),
  );
