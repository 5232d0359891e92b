// Examples that can be edited and run.
import { el, fill, run, admin, state, ms, num, button, path, say, failure } from './lib.js';
import { TextError } from './relaxed.js';
import { statements, pretty } from './shell.js';
import { lookUp } from './entities.js';

const db = 'try';

// examples are the title, text and statements of each.
const examples = [
  [
    'A TTL index, as in MongoDB',
    'The first pass after the expiry removes the document.',
    `db.carts.createIndex({touched: 1}, {expireAfterSeconds: 3600})
db.carts.deleteMany({})
db.carts.insertMany([
  {_id: "anna", touched: new Date()},
  {_id: "ben", touched: new Date(Date.now() - 15 * 60 * 1000)},
  {_id: "carl", touched: new Date(Date.now() - 30 * 60 * 1000)}
])`,
  ],
  [
    'Document TTL, as in Cosmos DB',
    'A document is invisible from the instant it expires; ttl overrides the default.',
    `db.createCollection("sessions", {documentTtl: {default: 1000}})
db.sessions.deleteMany({})
db.sessions.insertMany([
  {_id: 1},
  {_id: 2, ttl: -1},
  {_id: 3, ttl: 2000}
])`,
  ],
  [
    'A time series that keeps a day',
    'Whole buckets expire, so a measurement stays for up to an hour longer.',
    `db.createCollection("weather24h", {
  timeseries: {timeField: "timestamp", metaField: "metadata"},
  expireAfterSeconds: 86400
})
db.weather24h.insertOne({timestamp: new Date(), metadata: "roof", celsius: 21})`,
  ],
  [
    'A queue with dead letters',
    'Messages that nobody receives in time move to the dead-letter queue.',
    `db.createCollection("jobs", {messageQueue: {
  defaultMessageTimeToLive: "PT10M",
  deadLetteringOnMessageExpiration: true
}})
db.jobs.insertMany([{task: "resize"}, {task: "crop"}])`,
  ],
  [
    'A topic with two subscriptions',
    'Each subscription gets the messages that its rules select, and lets them expire by itself.',
    `db.createCollection("orders", {messageTopic: {defaultMessageTimeToLive: "PT20M"}})
db.createCollection("bills", {messageSubscription: {topic: "orders"}})
db.createCollection("large", {messageSubscription: {
  topic: "orders",
  defaultMessageTimeToLive: "PT10M",
  rules: [{name: "large", filter: {total: {$gt: 100}}}]
}})
db.orders.insertMany([{total: 20}, {total: 300}])`,
  ],
];

// execute runs statements one after the other, until one fails. It returns their replies.
async function execute(list) {
  const replies = [];
  for (const s of list) {
    const reply = await run(db, s.command);
    if (reply.writeErrors) throw new Error(reply.writeErrors[0].errmsg);
    replies.push([s, reply]);
  }
  return replies;
}

// outcome is what people want to see of a reply.
function outcome([s, { cursor, ok, ...rest }]) {
  if (cursor) return cursor.firstBatch.map(d => pretty(d)).join('\n') || 'nothing found';
  return s.reads && rest.n !== undefined ? String(num(rest.n)) : `ok: ${num(ok)}`;
}

// leave goes to the page of the collection that was written last.
async function leave(list) {
  const last = list.findLast(s => s.collection)?.collection;
  if (!last) return;
  const found = await lookUp([`${db}.${last}`]);
  location.hash = path(found.get(`${db}.${last}`) ? 'queue' : 'collection', db, last);
}

// example makes the card of an example.
function example([title, text, code]) {
  const editor = el('textarea', { class: 'code', spellcheck: 'false', 'aria-label': title }),
    result = el('div', { role: 'status' }),
    reset = () => {
      editor.value = code;
      editor.rows = code.split('\n').length + 1;
      fill(result);
    };
  reset();
  const start = async () => {
    fill(result);
    state.now = ms((await admin({ hello: 1 })).localTime);
    let list;
    try {
      list = statements(editor.value);
    } catch (e) {
      if (!(e instanceof TextError)) throw e;
      editor.focus();
      editor.setSelectionRange(e.at, e.at + 1);
      return fill(result, failure(e));
    }
    const replies = await execute(list);
    say(`${title}: done`);
    dispatchEvent(new Event('clockmoved'));
    if (list.some(s => s.reads))
      fill(
        result,
        replies.map(r => [
          el('p', { class: 'mono small muted' }, r[0].text),
          el('pre', {}, outcome(r)),
        ]),
      );
    else await leave(list);
  };
  return el(
    'section',
    { class: 'card' },
    el('h2', {}, title),
    el('p', { class: 'muted' }, text),
    editor,
    el(
      'div',
      { class: 'row' },
      button('Run', start, { class: 'primary', disabled: state.session.readOnly }),
      button('Reset', reset, { class: 'quiet' }),
    ),
    result,
  );
}

// tryIt shows the examples; it is the first page of an empty server.
export function tryIt(first) {
  return [
    el(
      'div',
      {},
      el('h1', {}, first === true ? 'See time at work' : 'Try it'),
      el(
        'p',
        { class: 'muted' },
        first === true
          ? 'This server is empty. Run an example, then '
          : 'Change an example as you like, run it in the database “try”, then ',
        state.session.testClock
          ? 'drag the slider above and watch documents go.'
          : 'watch when its documents go. With --test-clock you could move time.',
      ),
    ),
    el('div', { class: 'grid pairs' }, examples.map(example)),
    fromScript(),
  ];
}

// fromScript shows how a script moves the clock.
function fromScript() {
  const lines = [
    `curl -H 'Content-Type: application/json' ${location.origin}/api/command \\`,
    `  -d '{"db": "admin", "command": {"testClock": 1, "advanceSeconds": 3600}}'`,
  ];
  return el(
    'section',
    { class: 'card' },
    el('h2', {}, 'From a script'),
    el('p', { class: 'muted' }, 'Languages without a driver can move the clock, too:'),
    el('pre', {}, lines.join('\n')),
  );
}
