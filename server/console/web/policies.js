// The policies of a collection: what they are, and forms that change them.
import { el, num, chip, short } from './lib.js';
import { commandForm, secondsInput, nameInput, choice } from './command.js';

const isTTL = i => i.expireAfterSeconds !== undefined && !i.clustered && i.name !== '_ts_1';

// policiesOf lists the policies of a collection: their kind, their seconds if they are the
// same for all documents, the field with the date, and a text.
export function policiesOf(info, indexes) {
  const o = info.options,
    out = [];
  if (o.documentTtl) out.push(documentTtl(o.documentTtl));
  const seconds = o.expireAfterSeconds === undefined ? undefined : num(o.expireAfterSeconds);
  if (o.timeseries && seconds !== undefined)
    out.push({
      policy: 'timeseries',
      seconds,
      field: o.timeseries.timeField,
      text: `${seconds} s`,
    });
  if (o.clusteredIndex && seconds !== undefined)
    out.push({ policy: 'clustered', seconds, field: '_id', text: `${seconds} s` });
  for (const i of indexes.filter(isTTL)) {
    const [field] = Object.keys(i.key),
      s = num(i.expireAfterSeconds);
    out.push({ policy: 'ttl', seconds: s, field, text: `${field} + ${s} s` });
  }
  return out;
}

function documentTtl(o) {
  const seconds = num(o.default);
  return {
    policy: 'documentTtl',
    seconds: seconds < 0 ? undefined : seconds,
    field: 'ttl',
    text: seconds < 0 ? 'on, no default' : `${short(o.default)} s after the last write`,
  };
}

// chips shows the policies.
export function chips(policies, info) {
  const moves =
    info.options.onExpire &&
    el(
      'span',
      { class: 'small muted' },
      `expired documents move to ${info.options.onExpire.deadLetterTo}`,
    );
  if (!policies.length && !moves)
    return el('span', { class: 'muted' }, 'No document of this collection expires.');
  return [policies.map(p => chip(p.policy, p.text)), moves];
}

// forms change the policies of a place {db, name, info, indexes}. rights says what the user may.
export function forms(place, rights) {
  const { info, indexes } = place,
    o = info.options,
    out = [];
  if (rights.collMod && (o.timeseries || o.clusteredIndex)) out.push(...ofCollection(place));
  if (rights.collMod && !o.timeseries && !o.capped) out.push(ofDocuments(place));
  if (rights.collMod) out.push(...indexes.filter(isTTL).map(i => ofIndex(place, i)));
  if (rights.createIndex && !o.timeseries) out.push(newIndex(place));
  if (rights.collMod) out.push(destination(place));
  return out;
}

const again = () => dispatchEvent(new HashChangeEvent('hashchange'));
const form = (place, fields, text, command) =>
  commandForm({ db: place.db, fields, text, command, done: again });

function ofCollection(place) {
  const { name, info } = place,
    o = info.options,
    s = secondsInput(num(o.expireAfterSeconds ?? 86400)),
    label = o.timeseries
      ? 'Keep measurements for (seconds)'
      : 'Keep documents after the date in _id for (seconds)';
  const change = form(place, [[label, s]], 'Set', () => ({
    collMod: name,
    expireAfterSeconds: Number(s.value),
  }));
  if (o.expireAfterSeconds === undefined) return [change];
  return [
    change,
    form(place, [], 'Keep them for ever', () => ({ collMod: name, expireAfterSeconds: 'off' })),
  ];
}

// ofDocuments sets document TTL, which has the three states of Cosmos DB.
function ofDocuments(place) {
  const { name, info } = place,
    o = info.options.documentTtl,
    now = !o ? 'off' : num(o.default) < 0 ? 'own' : 'default';
  const how = choice(
      [
        ['off', 'Off'],
        ['own', 'On, no default'],
        ['default', 'On, seconds after the last write'],
      ],
      now,
    ),
    s = secondsInput(now === 'default' ? num(o.default) : 3600);
  s.hidden = now !== 'default';
  const value = () =>
    how.value === 'off' ? 'off' : { default: how.value === 'own' ? -1 : Number(s.value) };
  const f = form(
    place,
    [
      ['Document TTL', how],
      ['Seconds', s],
    ],
    'Set',
    () => ({ collMod: name, documentTtl: value() }),
  );
  how.addEventListener('change', () => {
    s.hidden = s.closest('label').hidden = how.value !== 'default';
  });
  return f;
}

function ofIndex(place, i) {
  const s = secondsInput(num(i.expireAfterSeconds));
  return form(place, [[`TTL index ${i.name} (seconds)`, s]], 'Set', () => ({
    collMod: place.name,
    index: { name: i.name, expireAfterSeconds: Number(s.value) },
  }));
}

function newIndex(place) {
  const field = nameInput('', 'createdAt'),
    s = secondsInput();
  return form(
    place,
    [
      ['New TTL index on the date in', field],
      ['Seconds', s],
    ],
    'Create',
    () => ttlIndex(place.name, field.value || '…', Number(s.value)),
  );
}

// ttlIndex is the command that creates a TTL index.
export const ttlIndex = (name, field, expireAfterSeconds) => ({
  createIndexes: name,
  indexes: [{ key: { [field]: 1 }, name: `${field}_1`, expireAfterSeconds }],
});

function destination(place) {
  const { name, info } = place,
    to = el('input', {
      value: info.options.onExpire?.deadLetterTo ?? '',
      placeholder: 'delete them',
      spellcheck: 'false',
    });
  return form(place, [['Move expired documents to', to]], 'Set', () => ({
    collMod: name,
    onExpire: to.value ? { deadLetterTo: to.value } : 'off',
  }));
}
