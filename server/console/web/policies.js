// The policies of a collection: what they are, and forms that change them.
import { el, num, chip, short, span, path, tell } from './lib.js';
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

// A form of a place. told says what it has done, from the command and its reply.
function form(place, fields, text, command, { policy, told }) {
  const { db, name, info } = place,
    to = info.options.onExpire?.deadLetterTo;
  return commandForm({
    db,
    fields,
    text,
    command,
    policy: () => {
      const p = policy?.();
      return p && { collection: name, to, ...p };
    },
    done(_, reply) {
      told(reply);
      reopen(path('collection', db, name));
    },
  });
}

// reopen shows a page, also if it is the present one.
function reopen(hash) {
  if (location.hash === hash) dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = hash;
}

const later = s => (s ? `${span(s * 1000)} after` : 'at');

function ofCollection(place) {
  const { name, info } = place,
    o = info.options,
    s = secondsInput(num(o.expireAfterSeconds ?? 86400)),
    what = o.timeseries ? 'Measurements' : 'Documents',
    label = o.timeseries
      ? 'Keep measurements for (seconds)'
      : 'Keep documents after the date in _id for (seconds)';
  const change = form(
    place,
    [[label, s]],
    'Set',
    () => ({ collMod: name, expireAfterSeconds: Number(s.value) }),
    {
      policy: () => ({
        policy: { expireAfterSeconds: Number(s.value) },
        field: o.timeseries ? undefined : '_id',
      }),
      told: () => tell(`${what} of ${name} now expire ${later(Number(s.value))} their date.`),
    },
  );
  if (o.expireAfterSeconds === undefined) return [change];
  return [
    change,
    form(place, [], 'Keep them for ever', () => ({ collMod: name, expireAfterSeconds: 'off' }), {
      told: () => tell(`${what} of ${name} are kept for ever now.`),
    }),
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
  s.min = 1;
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
    {
      policy: () => how.value !== 'off' && { policy: { documentTtl: value() } },
      told: () => tell(documentTtlIs(name, value())),
    },
  );
  how.addEventListener('change', () => {
    s.hidden = s.disabled = s.closest('label').hidden = how.value !== 'default';
  });
  s.disabled = s.hidden;
  return f;
}

// documentTtlIs says what document TTL does now.
const documentTtlIs = (name, value) =>
  value === 'off'
    ? `Document TTL of ${name} is off.`
    : value.default < 0
      ? `Document TTL of ${name} is on: a document expires if it has a “ttl” of its own.`
      : `Document TTL of ${name} is on: documents expire ${later(value.default)} their last write.`;

function ofIndex(place, i) {
  const s = secondsInput(num(i.expireAfterSeconds)),
    [field] = Object.keys(i.key);
  return form(
    place,
    [[`TTL index ${i.name} (seconds)`, s]],
    'Set',
    () => ({
      collMod: place.name,
      index: { name: i.name, expireAfterSeconds: Number(s.value) },
    }),
    {
      policy: () => ({
        policy: {
          key: i.key,
          name: i.name,
          partialFilterExpression: i.partialFilterExpression,
          expireAfterSeconds: Number(s.value),
        },
        field: i.partialFilterExpression || place.info.options.timeseries ? undefined : field,
      }),
      told: () =>
        tell(
          `Documents of ${place.name} now expire ${later(Number(s.value))} the date in ${field}.`,
        ),
    },
  );
}

function newIndex(place) {
  const field = nameInput('', 'createdAt'),
    s = secondsInput();
  const f = form(
    place,
    [
      ['New TTL index on the date in', field],
      ['Seconds', s],
    ],
    'Create',
    () => ttlIndex(place.name, field.value || '…', Number(s.value)),
    {
      policy: () => ttlPolicy(field.value, Number(s.value)),
      told: reply => ttlIndexIs(place.db, place.name, field.value, Number(s.value), reply),
    },
  );
  f.classList.add('newest');
  return f;
}

// ttlIndex is the command that creates a TTL index.
export const ttlIndex = (name, field, expireAfterSeconds) => ({
  createIndexes: name,
  indexes: [{ key: { [field]: 1 }, name: `${field}_1`, expireAfterSeconds }],
});

// ttlPolicy is the policy of a TTL index that is not there yet.
export const ttlPolicy = (field, expireAfterSeconds) => ({
  policy: ttlIndex('', field, expireAfterSeconds).indexes[0],
  field,
});

// ttlIndexIs tells that a TTL index was created, and leads to it.
export function ttlIndexIs(db, name, field, seconds, reply) {
  const is =
    num(reply.numIndexesAfter) > num(reply.numIndexesBefore) ? 'was created' : 'is there already';
  tell(
    `The TTL index ${field}_1 ${is}: documents of ${name} expire ${later(seconds)} the date in ${field}. `,
    el('a', { href: path('indexes', db, name) }, 'Show the index'),
  );
}

function destination(place) {
  const { name, info } = place,
    to = el('input', {
      value: info.options.onExpire?.deadLetterTo ?? '',
      placeholder: 'delete them',
      spellcheck: 'false',
    });
  return form(
    place,
    [['Move expired documents to', to]],
    'Set',
    () => ({ collMod: name, onExpire: to.value ? { deadLetterTo: to.value } : 'off' }),
    {
      told: () =>
        tell(
          `Expired documents of ${name} ${to.value ? `move to ${to.value}` : 'are deleted'} from now on.`,
        ),
    },
  );
}
