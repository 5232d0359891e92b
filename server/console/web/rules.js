// The rules of subscriptions in words, such as: region = "eu" and total > 100.
import { el, iso, ms } from './lib.js';

const comparisons = {
  $eq: '=',
  $ne: '≠',
  $gt: '>',
  $gte: '≥',
  $lt: '<',
  $lte: '≤',
  $in: 'is one of',
  $nin: 'is none of',
};
const joins = { $and: ' and ', $or: ' or ' };

// values are the keys of extended JSON, which are no operators.
const values = ['$date', '$oid', '$uuid', '$binary', '$timestamp', '$minKey', '$maxKey'];
const isValue = v =>
  typeof v !== 'object' ||
  v === null ||
  Array.isArray(v) ||
  Object.keys(v).every(k => !k.startsWith('$') || k.startsWith('$number') || values.includes(k));

function literal(v) {
  if (v?.$date) return iso(ms(v));
  const [[key, text] = []] = Object.entries(v ?? {});
  return key?.startsWith('$number') ? text : JSON.stringify(v);
}

// condition is what a filter demands of one field. What has no words stays as it is.
function condition(field, v) {
  if (isValue(v)) return `${field} = ${literal(v)}`;
  if (v.$regularExpression)
    return `${field} matches /${v.$regularExpression.pattern}/${v.$regularExpression.options}`;
  return Object.entries(v)
    .map(([op, x]) =>
      comparisons[op]
        ? `${field} ${comparisons[op]} ${literal(x)}`
        : op === '$exists' && typeof x === 'boolean'
          ? `${field} ${x ? 'exists' : 'does not exist'}`
          : `${field}: ${JSON.stringify({ [op]: x })}`,
    )
    .join(' and ');
}

function filterText(filter, inner) {
  if (filter === true) return 'all messages';
  if (filter === false) return 'no message';
  const all = Object.entries(filter);
  const joined = (list, word) => {
    const text = list.map(f => filterText(f, true)).join(word);
    return inner || all.length > 1 ? `(${text})` : text;
  };
  const parts = all.map(([field, v]) =>
    joins[field]
      ? joined(v, joins[field])
      : field.startsWith('$')
        ? JSON.stringify({ [field]: v })
        : condition(field, v),
  );
  return parts.join(' and ') || 'all messages';
}

const changes = {
  $set: fields =>
    `set ${Object.entries(fields)
      .map(([f, v]) => `${f} = ${literal(v)}`)
      .join(', ')}`,
  $unset: fields => `remove ${Object.keys(fields).join(', ')}`,
  $rename: fields =>
    `rename ${Object.entries(fields)
      .map(([f, to]) => `${f} to ${to}`)
      .join(', ')}`,
};
const actionText = action =>
  Object.entries(action)
    .map(([op, fields]) => changes[op]?.(fields) ?? JSON.stringify({ [op]: fields }))
    .join(', ');

// ruleTexts are what a rule selects, and how it changes that: undefined if it does not.
export const ruleTexts = r => [
  filterText(r.filter ?? r.correlationFilter),
  r.action && actionText(r.action),
];

// ruleLines are the first rules of a subscription, one on a line.
export function ruleLines(rules, most) {
  if (!rules?.length) return [el('span', { class: 'muted' }, 'no rules: it gets no message')];
  return [
    ...rules.slice(0, most).map(r => {
      const [selects, then] = ruleTexts(r);
      return el(
        'div',
        { class: 'small' },
        el('b', {}, r.name),
        ': ',
        selects,
        then && el('span', { class: 'muted' }, ` → ${then}`),
      );
    }),
    rules.length > most && el('div', { class: 'small muted' }, `and ${rules.length - most} more`),
  ].filter(Boolean);
}
