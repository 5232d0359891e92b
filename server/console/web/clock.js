// The bar with the test clock: moving it, and seeing before what that removes.
import {
  el,
  fill,
  admin,
  state,
  ms,
  num,
  iso,
  span,
  when,
  button,
  count,
  plural,
  say,
  removes,
  short as shortText,
} from './lib.js';
import { outlook, picker, short, watch, refresh, ensure, monitor } from './outlook.js';

const bar = document.getElementById('clock');
let dragged = false,
  built = false,
  frozen = false;

// removedBy counts what a pass removed or moved.
export function removedBy(r) {
  const d = r.deleted ?? r;
  return [
    'ttl',
    'clustered',
    'timeseriesBuckets',
    'documentTtl',
    'messagesDropped',
    'messagesDeadLettered',
  ].reduce((s, k) => s + num(d[k]), 0);
}
const removed = r =>
  removedBy(r) ? `removed or moved ${plural(removedBy(r), 'document')}` : 'removed nothing';

// distance says how far the clock is from that of the system.
const distance = millis =>
  millis ? `${span(millis)} ${millis > 0 ? 'ahead of' : 'behind'} system time` : 'system time';

export function clockBar() {
  if (!state.session.testClock || built) return;
  built = true;
  bar.hidden = false;
  const time = el('time', { class: 'now' }),
    offset = el('span', { class: 'soft small' }),
    preview = el('div', { class: 'preview', 'aria-live': 'polite', id: 'clock-preview' }),
    result = el('span', { class: 'soft small' }),
    last = el('span', { class: 'soft small' });
  const slider = el('input', {
    type: 'range',
    min: 0,
    max: 1000,
    step: 1,
    value: 0,
    'aria-label': 'Move the clock forward',
    'aria-describedby': 'clock-preview',
  });
  const marks = el('div', { class: 'marks', 'aria-hidden': 'true' });
  const jumpButton = button('Jump', () => jump(at()), { class: 'primary', hidden: true });
  const cancel = button(
    'Cancel',
    () => {
      back();
      slider.focus();
    },
    { hidden: true },
  );
  const freeze = button('Freeze', async () => {
    show(await admin({ testClock: 1, freeze: !frozen }));
  });
  const at = () => Math.round((Number(slider.value) / 1000) * outlook.seconds * 1000);
  const readOnly = state.session.readOnly;

  const show = r => {
    state.now = ms(r.now);
    frozen = r.frozen;
    time.textContent = iso(Math.floor(state.now / 1000) * 1000);
    time.setAttribute('datetime', new Date(state.now).toISOString());
    offset.textContent = `${frozen ? 'frozen, ' : ''}${distance(num(r.offsetMillis))}`;
    freeze.textContent = frozen ? 'Resume' : 'Freeze';
    freeze.setAttribute('aria-pressed', String(frozen));
  };
  function moved(text) {
    result.textContent = text;
    say(text);
    dispatchEvent(new Event('clockmoved'));
    return update();
  }
  async function jump(by) {
    const before = await monitor();
    const r = await admin({ testClock: 1, advanceMillis: by });
    const after = await monitor();
    show(r);
    back();
    const pass =
      r.passRan && ms(after.lastPass?.at) !== ms(before.lastPass?.at)
        ? `the pass ${removed(after.lastPass)}`
        : 'no pass was due';
    await moved(`Jumped ${span(by)}: ${pass}.`);
  }
  function back() {
    slider.value = 0;
    dragged = false;
    jumpButton.hidden = cancel.hidden = true;
    slider.removeAttribute('aria-valuetext');
    fill(preview);
    paint();
  }

  // What a jump would remove is asked of the server, one question at a time; only the last
  // place of the slider counts.
  let asking = false;
  async function foresee() {
    jumpButton.hidden = !at() || readOnly;
    cancel.hidden = !at();
    paint();
    if (at()) slider.setAttribute('aria-valuetext', `${span(at())} forward`);
    if (asking) return;
    asking = true;
    try {
      for (let by = -1; at() && by !== at();) {
        by = at();
        const f = await short({
          horizonSeconds: Math.max(1, Math.round(by / 1000)),
          buckets: 1,
          list: 4,
          top: 4,
          sortBy: 'due',
        }).catch(() => undefined);
        if (f && by === at()) foreseen(f, by);
      }
    } finally {
      asking = false;
    }
    if (!at()) fill(preview);
  }
  function foreseen(f, by) {
    const total = f.totals.policies
      .filter(removes)
      .reduce((s, p) => s + num(p.overdue) + p.histogram.reduce((m, b) => m + num(b.count), 0), 0);
    const some = f.collections.filter(c => num(c.due)),
      names = (f.due ?? [])
        .filter(d => removes(d) && ms(d.dueAt) <= ms(f.now) + by)
        .map(d => shortText(d._id));
    fill(
      preview,
      el('span', {}, `+${span(by)} → ${iso(Math.floor((ms(f.now) + by) / 1000) * 1000)}: `),
      total
        ? el(
            'span',
            {},
            el('b', {}, `${plural(total, 'document')} would expire`),
            `: ${some
              .slice(0, 3)
              .map(c => `${count(c.due)} of ${c.ns}`)
              .join(', ')}${some.length > 3 ? ' …' : ''}`,
            names.length ? el('span', { class: 'soft small' }, ` (first ${names.join(', ')})`) : '',
          )
        : el('span', { class: 'soft' }, 'nothing would expire'),
    );
  }

  const paint = () =>
    dispatchEvent(new CustomEvent('slide', { detail: Number(slider.value) / 1000 }));
  function draw(f) {
    fill(
      marks,
      ...[0, 0.25, 0.5, 0.75, 1].map(x =>
        el('span', {}, x ? `+${span(f.seconds * 1000 * x)}` : 'now'),
      ),
    );
    fill(
      last,
      f.lastPass?.at
        ? ['The last pass, ', when(ms(f.lastPass.at)), `, ${removed(f.lastPass)}.`]
        : 'No pass has run yet.',
    );
  }
  const update = async () => {
    await refresh();
  };
  let broken = ''; // the error that is shown until an update succeeds
  watch(async (f, error) => {
    if (Number(slider.value)) return; // what is foreseen stays until the slider is let go
    try {
      if (error) throw error;
      draw(f);
      show(await admin({ testClock: 1 }));
      if (result.textContent === broken) result.textContent = '';
    } catch (e) {
      result.textContent = broken = e.message;
    }
  });
  addEventListener('horizon', () => {
    back();
  });

  const go = () => {
    if (at() && !readOnly) jumpButton.click();
  }; // a preview is all that a read-only console has
  slider.addEventListener('pointerdown', () => {
    dragged = true;
  });
  slider.addEventListener('input', foresee);
  slider.addEventListener('keydown', e => {
    dragged = false;
    if (e.key === 'Escape') back();
    if (e.key === 'Enter') go();
  });
  slider.addEventListener('change', () => {
    if (dragged) go();
  });
  addEventListener('keydown', e => {
    if (e.key === 'Escape' && dragged) back();
  });
  const step = (text, seconds) => button(text, () => jump(seconds * 1000));
  const toNext = async () => {
    const f = await short({ buckets: 1 });
    const next = Math.min(...f.totals.policies.filter(removes).map(p => p.next));
    if (!Number.isFinite(next)) {
      result.textContent = 'Nothing falls due.';
      say(result.textContent);
      return;
    }
    await jump(next - ms(f.now));
  };
  const pass = async () => {
    const r = await admin({ runExpirationPass: 1 });
    await moved(`The pass ${removed(r)}.`);
  };
  fill(
    bar,
    el(
      'div',
      { class: 'row' },
      time,
      offset,
      el(
        'span',
        { class: 'push row moves' },
        readOnly
          ? []
          : [
              freeze,
              step('+1 min', 60),
              step('+1 h', 3600),
              step('+1 d', 86400),
              button('To next due', toNext),
              button('Run pass', pass),
            ],
      ),
    ),
    el('div', { class: 'track' }, slider, marks),
    el(
      'div',
      { class: 'row' },
      el('div', { class: 'said' }, preview, result, last),
      jumpButton,
      cancel,
      el('span', { class: 'push' }, picker()),
    ),
  );
  slider.disabled = false;
  admin({ testClock: 1 }).then(show, () => {}); // the forecast may take longer
  setTimeout(ensure); // that of the page, if it asks for one
}
