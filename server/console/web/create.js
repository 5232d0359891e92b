// The dialog that creates a collection in which something expires, or a queue.
import { el, fill, button, path, tell } from './lib.js';
import { commandForm, secondsInput, nameInput, choice } from './command.js';
import { ttlIndex, ttlPolicy, ttlIndexIs } from './policies.js';
import { mayAnywhere } from './rights.js';

const kinds = [
  ['ttl', 'a collection with a TTL index'],
  ['documentTtl', 'a collection with document TTL'],
  ['queue', 'a queue'],
];
const checked = () => el('input', { type: 'checkbox' });

// create makes the button that opens the dialog, for who may create collections somewhere.
export async function create(kind = 'ttl') {
  if (!(await mayAnywhere('createCollection'))) return '';
  return el(
    'p',
    { class: 'together' },
    button('Create …', () => open(kind)),
  );
}

function open(kind) {
  const which = choice(kinds, kind),
    place = el('div', {}),
    d = el('dialog', { 'aria-label': 'Create', class: 'wide' });
  const draw = () => fill(place, form(which.value, d));
  which.addEventListener('change', draw);
  draw();
  d.append(
    el('h2', {}, 'Create'),
    el('label', {}, 'What', which),
    place,
    button('Cancel', () => d.close()),
  );
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
}

function form(kind, dialog) {
  const db = nameInput('test', 'database'),
    name = nameInput('', kind === 'queue' ? 'jobs' : 'carts'),
    { fields, command, policy, told } = settings[kind](name);
  return commandForm({
    db: () => db.value || '…',
    fields: [['Database', db], ['Name', name], ...fields],
    text: 'Create',
    command,
    policy,
    done(on, reply) {
      dialog.close();
      told(on, reply);
      location.hash = path(kind === 'queue' ? 'queue' : 'collection', on, name.value);
    },
  });
}

// The fields and the command of each kind.
const settings = {
  ttl(name) {
    const field = nameInput('', 'createdAt'),
      s = secondsInput();
    return {
      fields: [
        ['Field with the date', field],
        ['Seconds after it', s],
      ],
      command: () => ttlIndex(name.value || '…', field.value || '…', Number(s.value)),
      policy: () => ({ collection: name.value, ...ttlPolicy(field.value, Number(s.value)) }),
      told: (db, reply) => ttlIndexIs(db, name.value, field.value, Number(s.value), reply),
    };
  },
  documentTtl(name) {
    const s = secondsInput();
    return {
      fields: [['Seconds after the last write', s]],
      command: () => ({ create: name.value || '…', documentTtl: { default: Number(s.value) } }),
      told: () => tell(`The collection ${name.value} was created.`),
    };
  },
  queue(name) {
    const live = el('input', { placeholder: 'for ever, or PT10M' }),
      dead = checked(),
      sessions = checked();
    const options = () => ({
      ...(live.value && {
        defaultMessageTimeToLive: /^\d+$/.test(live.value) ? Number(live.value) : live.value,
      }),
      ...(dead.checked && { deadLetteringOnMessageExpiration: true }),
      ...(sessions.checked && { requiresSession: true }),
    });
    return {
      fields: [
        ['Time to live of messages', live],
        ['Expired messages become dead letters', dead],
        ['Sessions', sessions],
      ],
      command: () => ({ create: name.value || '…', messageQueue: options() }),
      told: () => tell(`The queue ${name.value} was created.`),
    };
  },
};
