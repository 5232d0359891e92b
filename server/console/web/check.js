// What a policy would do at once, asked of the server before the policy is set.
import { el, run, num, count, plural, ask } from './lib.js';

const looks = [1_000_000, 10_000]; // documents that are looked at, and if that takes too long
const patience = 4000; // ms that a look may take

// look counts the documents that would be overdue; nothing if the collection is not there, and no
// numbers if the server does not tell.
async function look(db, name, policy) {
  for (const limit of looks)
    try {
      return await run(db, { explainExpiry: name, policy, limit, maxTimeMS: patience });
    } catch (e) {
      if (e.code === 26) return undefined;
      if (e.code === 13) return { unknown: 'You may not read the documents' };
      if (e.code !== 50) throw e;
    }
  return { unknown: 'The documents could not be counted in time' };
}

// doubts says what somebody should know before a policy is set: how many documents would go at
// once, and that others, or all, would never go. field is where a document has its date, to is
// where expired documents move.
async function doubts(db, { collection, policy, field, to }) {
  const r = await look(db, collection, policy);
  if (!r) return undefined;
  const fate = to ? `move to ${to}` : 'be removed';
  if (r.unknown)
    return {
      words: [`${r.unknown}: those that are already past this time would ${fate}.`],
      act: 'anyway',
      danger: true,
    };
  const overdue = num(r.overdue),
    words = [...going(r, fate), ...staying(r, field)];
  return (
    words.length && {
      words,
      act: overdue ? `and ${to ? 'move' : 'remove'} ${count(overdue)}` : 'anyway',
      danger: overdue > 0,
    }
  );
}

// those names the documents that were looked at.
const those = r =>
  r.complete ? plural(num(r.examined), 'document') : `the first ${count(r.examined)} documents`;

// going says what would go at once.
function going(r, fate) {
  const n = num(r.overdue);
  return [
    n &&
      `${count(n)} of ${those(r)} ${n === 1 ? 'is' : 'are'} already past this time and would ${fate}.`,
    n && !r.complete && 'The other documents were not looked at.',
  ].filter(Boolean);
}

// staying says what would never go, as it has no date in the field.
function staying(r, field) {
  const n = num(r.dated);
  if (!field || n === num(r.examined)) return [];
  if (n)
    return [
      `Only ${count(n)} of ${those(r)} ${n === 1 ? 'has' : 'have'} a date in “${field}”. ` +
        'The others would not expire.',
    ];
  return r.complete
    ? [`No document has a date in “${field}”: nothing would expire.`]
    : [`None of ${those(r)} has a date in “${field}”: they would not expire.`];
}

// confirmed sets a policy by send, after a question if there are doubts. text names the action.
export async function confirmed(db, proposal, text, send) {
  const found = await doubts(db, proposal);
  if (!found) return send();
  ask(
    'Set this policy?',
    found.words.map(w => el('p', {}, w)),
    `${text} ${found.act}`,
    send,
    found.danger,
  );
}
