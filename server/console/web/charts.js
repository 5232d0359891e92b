// The charts, drawn as wide as their place.
import { el, fill, num, ms, count, plural, span, iso, families, removes } from './lib.js';

// drawn makes a box whose content is drawn for its width, again when the width changes.
function drawn(draw) {
  const box = el('div', { class: 'drawn' });
  let width = 0;
  box.redraw = () => {
    if (width) fill(box, draw(width));
  };
  new ResizeObserver(([e]) => {
    const w = Math.floor(e.contentRect.width);
    if (w === width) return;
    width = w;
    box.redraw();
  }).observe(box);
  return box;
}

// timeline makes a chart of what falls due; show(policies, from, horizon) changes it. What is
// overdue is at its left, and what the clock would pass is shaded while its slider is moved.
export function timeline(n) {
  let policies = [],
    from = 0,
    horizon = 1,
    limit = 0; // the part of the horizon that the slider of the clock would pass
  const box = drawn(width => drawTimeline(policies, from, horizon, limit, n, width));
  box.show = (p, f, h) => {
    [policies, from, horizon] = [p, f, h];
    box.redraw();
  };
  addEventListener('slide', function slide(e) {
    if (!box.isConnected && box.wasConnected) return removeEventListener('slide', slide);
    box.wasConnected = box.isConnected;
    limit = e.detail;
    box.redraw();
  });
  return box;
}

function drawTimeline(policies, from, horizon, limit, n, W) {
  const parts = W < 600 ? n / 2 : n,
    H = 170,
    left = 60,
    base = H - 24,
    stacks = Array.from({ length: parts }, () => ({}));
  let overdue = 0;
  for (const p of policies) {
    if (!removes(p)) continue;
    overdue += num(p.overdue);
    for (const b of p.histogram) {
      const i = Math.min(
        parts - 1,
        Math.max(0, Math.floor(((ms(b.after) - from) / horizon) * parts + 1e-6)),
      );
      stacks[i][p.policy] = (stacks[i][p.policy] ?? 0) + num(b.count);
    }
  }
  const sums = stacks.map(s => Object.values(s).reduce((a, b) => a + b, 0)),
    total = sums.reduce((a, b) => a + b, 0);
  const top = Math.max(1, overdue, ...sums),
    y = v => (v / top) * (base - 22),
    w = (W - left) / parts;
  const g = el('svg', {
    class: 'chart',
    width: W,
    height: H,
    viewBox: `0 0 ${W} ${H}`,
    role: 'img',
    'aria-label': `${plural(overdue, 'document')} overdue, ${count(total)} due within ${span(horizon)}`,
  });
  for (const share of total || overdue ? [0.5, 1] : [])
    g.append(
      el('line', {
        class: 'f-grid',
        x1: left,
        x2: W,
        y1: base - y(top * share),
        y2: base - y(top * share),
      }),
    );
  if (limit)
    g.append(
      el('rect', { class: 'f-gone', x: left, y: 0, width: limit * (W - left), height: base }),
    );
  g.append(el('line', { class: 'f-line', x1: 0, x2: W, y1: base, y2: base }));
  if (overdue)
    g.append(
      el(
        'rect',
        {
          class: 'f-overdue',
          x: 8,
          width: 32,
          y: base - Math.max(2, y(overdue)),
          height: Math.max(2, y(overdue)),
          rx: 3,
        },
        el('title', {}, `${count(overdue)} overdue`),
      ),
      el(
        'text',
        { class: 'f-bad', x: 24, y: base - Math.max(2, y(overdue)) - 4, 'text-anchor': 'middle' },
        count(overdue),
      ),
    );
  g.append(
    el('text', { class: 'f-text', x: 4, y: H - 8 }, 'overdue'),
    el('line', { class: 'f-now', x1: left - 6, x2: left - 6, y1: 8, y2: base }),
  );
  stacks.forEach((s, i) => {
    let at = base;
    for (const [policy, k] of Object.entries(s)) {
      const h = Math.max(2, y(k));
      at -= h;
      g.append(
        el(
          'rect',
          {
            class: `f-${policy}`,
            x: left + i * w + 1,
            width: Math.max(2, w - 2),
            y: at,
            height: h,
            rx: 2,
          },
          el(
            'title',
            {},
            `${count(k)} × ${families[policy]}, from ${iso(Math.round((from + (horizon * i) / parts) / 1000) * 1000)}`,
          ),
        ),
      );
    }
  });
  const steps = W < 600 ? 2 : 4;
  for (let i = 0; i <= steps; i++)
    g.append(
      el(
        'text',
        {
          class: 'f-text',
          x: left + ((W - left) * i) / steps,
          y: H - 8,
          'text-anchor': i === steps ? 'end' : i ? 'middle' : 'start',
        },
        i ? `+${span((horizon * i) / steps)}` : 'now',
      ),
    );
  if (total || overdue)
    g.append(el('text', { class: 'f-text', x: W, y: 11, 'text-anchor': 'end' }, count(top)));
  else
    g.append(
      el(
        'text',
        { class: 'f-text', x: left + (W - left) / 2, y: base / 2 + 8, 'text-anchor': 'middle' },
        `Nothing falls due within ${span(horizon)}.`,
      ),
    );
  return g;
}

// spark makes a chart of a small series; show(values) changes it.
export function spark(label) {
  let values = [];
  const box = drawn(W => {
    const H = 56,
      top = Math.max(1e-9, ...values),
      low = Math.min(0, ...values),
      all = values.length === 1 ? [...values, ...values] : values,
      n = all.length;
    const points = all.map(
      (v, i) =>
        `${((i / (n - 1)) * W).toFixed(1)} ${(H - 3 - ((v - low) / (top - low)) * (H - 8)).toFixed(1)}`,
    );
    const g = el('svg', {
      class: 'spark chart',
      width: W,
      height: H,
      viewBox: `0 0 ${W} ${H}`,
      role: 'img',
      'aria-label': label,
    });
    if (!n) g.append(el('text', { class: 'f-text', x: 0, y: H / 2 + 4 }, 'no data yet'));
    else
      g.append(
        el('path', { class: 'area', d: `M0 ${H}L${points.join('L')}L${W} ${H}Z` }),
        el('path', { d: `M${points.join('L')}` }),
      );
    return g;
  });
  box.show = v => {
    values = v;
    box.redraw();
  };
  return box;
}
