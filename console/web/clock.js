// The bar with the test clock: moving it, and seeing before what that removes.
import { el, fill, breathe, pause, forecast, admin, state, ms, num, iso, span, button, count, plural, say, split, removes, short, families } from './lib.js';

const scales = [[3600, '1 hour'], [86400, '1 day'], [604800, '1 week'], [7776000, '90 days']];
const bar = document.getElementById('clock');
let scale = 3600, dragged = false, built = false, frozen = false;

export function clockBar() {
  if (!state.session.testClock || built) return;
  built = true;
  bar.hidden = false;
  const time = el('time', {}), offset = el('span', { class: 'soft small' }), preview = el('div', { class: 'preview', 'aria-live': 'polite' }), result = el('span', { class: 'soft small' });
  const slider = el('input', { type: 'range', min: 0, max: 1000, step: 1, value: 0, 'aria-label': 'Move the clock forward', 'aria-describedby': 'clock-preview' });
  preview.id = 'clock-preview';
  const ticks = el('svg', { viewBox: '0 0 1000 22', preserveAspectRatio: 'none', 'aria-hidden': 'true' }), marks = el('div', { class: 'marks', 'aria-hidden': 'true' });
  const jumpButton = button('Jump', () => jump(at()), { class: 'primary', hidden: true });
  const cancel = button('Cancel', () => back(), { hidden: true });
  const freeze = button('Freeze', async () => { show(await admin({ testClock: 1, freeze: !frozen })); });
  const select = el('select', { 'aria-label': 'Length of the slider', onchange: e => { scale = Number(e.target.value); back(); refresh(); } }, scales.map(([s, t]) => el('option', { value: s }, t)));
  const at = () => Math.round(Number(slider.value) / 1000 * scale * 1000);
  const readOnly = state.session.readOnly;

  const show = r => {
    state.now = ms(r.now);
    frozen = r.frozen;
    time.textContent = iso(Math.floor(state.now / 1000) * 1000);
    time.setAttribute('datetime', new Date(state.now).toISOString());
    offset.textContent = `${frozen ? 'frozen, ' : ''}${num(r.offsetMillis) ? `${span(num(r.offsetMillis))} ${num(r.offsetMillis) > 0 ? 'ahead of' : 'behind'} the system` : 'as the system'}`;
    freeze.textContent = frozen ? 'Resume' : 'Freeze';
    freeze.setAttribute('aria-pressed', String(frozen));
  };
  const removed = r => {
    const d = r.deleted ?? r, n = ['ttl', 'clustered', 'timeseriesBuckets', 'documentTtl', 'messagesDropped', 'messagesDeadLettered'].reduce((s, k) => s + num(d[k]), 0);
    return n ? `removed or moved ${plural(n, 'document')}` : 'removed nothing';
  };
  async function jump(by) {
    const before = await forecast({ buckets: 1 });
    const r = await admin({ testClock: 1, advanceMillis: by });
    const after = await forecast({ buckets: 1 });
    show(r);
    back();
    const pass = r.passRan && ms(after.lastPass?.at) !== ms(before.lastPass?.at) ? `the pass ${removed(after.lastPass)}` : 'no pass was due';
    result.textContent = `Jumped ${span(by)}: ${pass}.`;
    say(result.textContent);
    dispatchEvent(new Event('clockmoved'));
    await refresh();
  }
  function back() { slider.value = 0; dragged = false; jumpButton.hidden = cancel.hidden = true; fill(preview, ); paint(); }

  // What a jump would remove is asked of the server; only the last question counts.
  let question = 0;
  async function foresee() {
    const by = at(), mine = ++question;
    jumpButton.hidden = !by || readOnly;
    cancel.hidden = !by;
    paint();
    if (!by) return fill(preview, );
    slider.setAttribute('aria-valuetext', `${span(by)} forward`);
    const f = await forecast({ horizonSeconds: Math.max(1, Math.round(by / 1000)), buckets: 1, list: 20 }).catch(() => undefined);
    if (mine !== question || !f) return;
    const parts = [];
    for (const c of f.collections) {
      const n = c.policies.filter(removes).reduce((s, p) => s + num(p.overdue) + p.histogram.reduce((m, b) => m + num(b.count), 0), 0);
      if (n) parts.push([n, c]);
    }
    parts.sort((a, b) => b[0] - a[0]);
    const total = parts.reduce((s, [n]) => s + n, 0), names = (f.due ?? []).filter(d => removes(d) && ms(d.dueAt) <= ms(f.now) + by).slice(0, 4).map(d => short(d._id));
    fill(preview, el('span', {}, `+${span(by)} → ${iso(state.now + by)}: `), total
      ? el('span', {}, el('b', {}, `${plural(total, 'document')} would expire`), `: ${parts.slice(0, 3).map(([n, c]) => `${count(n)} of ${c.ns}`).join(', ')}${parts.length > 3 ? ' …' : ''}`, names.length ? el('span', { class: 'soft small' }, ` (first ${names.join(', ')})`) : '')
      : el('span', { class: 'soft' }, 'nothing would expire'));
  }
  let buckets = [];
  function paint() {
    const top = Math.max(1, ...buckets.map(b => b.n)), limit = Number(slider.value);
    fill(ticks, ...buckets.map(b => { const h = 4 + b.n / top * 18, x = b.at * 1000; return el('rect', { class: x <= limit && limit ? 'gone' : '', x: x - 4, y: 22 - h, width: 8, height: h, rx: 2 }); }));
  }
  async function refresh() {
    try {
      show(await admin({ testClock: 1 }));
      const f = await forecast({ horizonSeconds: scale, buckets: 100 });
      await breathe();
      const sums = new Map();
      for (const c of f.collections) for (const p of c.policies.filter(removes)) for (const b of p.histogram) {
        const x = (ms(b.until) - ms(f.now)) / scale / 1000;
        sums.set(x, (sums.get(x) ?? 0) + num(b.count));
      }
      buckets = [...sums].map(([x, n]) => ({ at: x, n }));
      fill(marks, ...[0, .25, .5, .75, 1].map(x => el('span', {}, x ? `+${span(scale * 1000 * x)}` : 'now')));
      paint();
    } catch (e) { result.textContent = e.message; }
  }
  const go = () => { if (at() && !readOnly) jumpButton.click(); }; // a preview is all that a read-only console has
  slider.addEventListener('pointerdown', () => { dragged = true; });
  slider.addEventListener('input', foresee);
  slider.addEventListener('keydown', e => {
    dragged = false;
    if (e.key === 'Escape') back();
    if (e.key === 'Enter') go();
  });
  slider.addEventListener('change', () => { if (dragged) go(); });
  addEventListener('keydown', e => { if (e.key === 'Escape' && dragged) back(); });
  const step = (text, seconds) => button(text, () => jump(seconds * 1000), { disabled: readOnly });
  const toNext = async () => {
    const f = await forecast({ buckets: 1 });
    const next = Math.min(...f.collections.flatMap(c => c.policies).filter(removes).map(p => p.next));
    if (!Number.isFinite(next)) { result.textContent = 'Nothing falls due.'; return; }
    await jump(next - ms(f.now));
  };
  const pass = async () => { const r = await admin({ runExpirationPass: 1 }); result.textContent = `The pass ${removed(r)}.`; say(result.textContent); dispatchEvent(new Event('clockmoved')); refresh(); };
  fill(bar, 
    el('div', { class: 'row' }, time, offset, el('span', { class: 'push row' }, readOnly ? [] : [freeze, step('+1 min', 60), step('+1 h', 3600), step('+1 d', 86400), button('To next due', toNext), button('Run pass', pass)])),
    el('div', { class: 'track' }, ticks, slider, marks),
    el('div', { class: 'row' }, preview, jumpButton, cancel, result, el('span', { class: 'push' }, select)));
  select.style.color = '#201c2e';
  select.style.background = '#f3f0ff';
  slider.disabled = false;
  const tick = async () => { const begin = performance.now(); if (!document.hidden && !Number(slider.value)) await refresh(); setTimeout(tick, pause(2000, begin)); };
  tick();
}
