import { el, run, admin, state, ms, date, button, path, say } from './lib.js';

const db = 'try';
const now = async () => ms((await admin({ hello: 1 })).localTime);

// cards are examples, each with its steps.
const cards = [
  [
    'A TTL index, as in MongoDB',
    'The first pass after the expiry removes the document.',
    'carts',
    [
      'db.carts.createIndex({touched: 1}, {expireAfterSeconds: 3600})',
      'db.carts.insertMany([{_id: "anna"}, {_id: "ben"}, {_id: "carl"}].map((c, i) => ({...c, touched: new Date(Date.now() - i * 900000)})))',
    ],
    async () => {
      const t = await now();
      await run(db, {
        createIndexes: 'carts',
        indexes: [{ key: { touched: 1 }, name: 'touched_1', expireAfterSeconds: 3600 }],
      });
      await fresh(
        'carts',
        ['anna', 'ben', 'carl'].map((_id, i) => ({ _id, touched: date(t - i * 900000) })),
      );
    },
  ],
  [
    'Document TTL, as in Cosmos DB',
    'A document is invisible from the instant it expires; ttl overrides the default.',
    'sessions',
    [
      'db.createCollection("sessions", {documentTtl: {default: 1000}})',
      'db.sessions.insertMany([{_id: 1}, {_id: 2, ttl: -1}, {_id: 3, ttl: 2000}])',
    ],
    async () => {
      await make({ create: 'sessions', documentTtl: { default: 1000 } });
      await fresh('sessions', [{ _id: 1 }, { _id: 2, ttl: -1 }, { _id: 3, ttl: 2000 }]);
    },
  ],
  [
    'A time series that keeps a day',
    'Whole buckets expire, so a measurement stays for up to an hour longer.',
    'weather24h',
    [
      'db.createCollection("weather24h", {timeseries: {timeField: "timestamp", metaField: "metadata"}, expireAfterSeconds: 86400})',
      'db.weather24h.insertOne({timestamp: new Date(), metadata: "roof", celsius: 21})',
    ],
    async () => {
      await make({
        create: 'weather24h',
        timeseries: { timeField: 'timestamp', metaField: 'metadata', granularity: 'seconds' },
        expireAfterSeconds: 86400,
      });
      await run(db, {
        insert: 'weather24h',
        documents: [{ timestamp: date(await now()), metadata: 'roof', celsius: 21 }],
      });
    },
  ],
  [
    'A queue with dead letters',
    'Messages that nobody receives in time move to the dead-letter queue.',
    'jobs',
    [
      'db.createCollection("jobs", {messageQueue: {defaultMessageTimeToLive: "PT10M", deadLetteringOnMessageExpiration: true}})',
      'db.jobs.insertMany([{task: "resize"}, {task: "crop"}])',
    ],
    async () => {
      await make({
        create: 'jobs',
        messageQueue: { defaultMessageTimeToLive: 'PT10M', deadLetteringOnMessageExpiration: true },
      });
      await run(db, { mqSend: 'jobs', messages: [{ task: 'resize' }, { task: 'crop' }] });
    },
  ],
  [
    'A topic with two subscriptions',
    'Each subscription gets the messages that its rules select, and lets them expire by itself.',
    'orders',
    [
      'db.createCollection("orders", {messageTopic: {defaultMessageTimeToLive: "PT20M"}})',
      'db.createCollection("bills", {messageSubscription: {topic: "orders"}})',
      'db.createCollection("large", {messageSubscription: {topic: "orders", defaultMessageTimeToLive: "PT10M", rules: [{name: "large", filter: {total: {$gt: 100}}}]}})',
      'db.orders.insertMany([{total: 20}, {total: 300}])',
    ],
    async () => {
      const topic = 'orders',
        rules = [{ name: 'large', filter: { total: { $gt: 100 } } }];
      await make({ create: topic, messageTopic: { defaultMessageTimeToLive: 'PT20M' } });
      await make({ create: 'bills', messageSubscription: { topic } });
      await make({
        create: 'large',
        messageSubscription: { topic, defaultMessageTimeToLive: 'PT10M', rules },
      });
      await run(db, { mqSend: topic, messages: [{ total: 20 }, { total: 300 }] });
    },
  ],
];

const queues = ['jobs', 'orders']; // the examples that are no ordinary collections

async function make(command) {
  await run(db, command);
}

// fresh puts documents into a collection in place of those with the same _id.
async function fresh(name, documents) {
  await run(db, {
    delete: name,
    deletes: [{ q: { _id: { $in: documents.map(d => d._id) } }, limit: 0 }],
  });
  await run(db, { insert: name, documents });
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
          : 'Run an example in the database “try”, then ',
        state.session.testClock
          ? 'drag the slider above and watch documents go.'
          : 'watch when its documents go. With --test-clock you could move time.',
      ),
    ),
    el(
      'div',
      { class: 'grid pairs' },
      cards.map(([title, text, name, lines, act]) =>
        el(
          'section',
          { class: 'card' },
          el('h2', {}, title),
          el('p', { class: 'muted' }, text),
          el('pre', {}, lines.join('\n')),
          button(
            'Run',
            async () => {
              await act();
              say(`${title}: done`);
              dispatchEvent(new Event('clockmoved'));
              location.hash = path(queues.includes(name) ? 'queue' : 'collection', db, name);
            },
            { class: 'primary', disabled: state.session.readOnly },
          ),
        ),
      ),
    ),
    el(
      'section',
      { class: 'card' },
      el('h2', {}, 'From a script'),
      el('p', { class: 'muted' }, 'Languages without a driver can move the clock, too:'),
      el(
        'pre',
        {},
        `curl -H 'Content-Type: application/json' ${location.origin}/api/command \\\n  -d '{"db": "admin", "command": {"testClock": 1, "advanceSeconds": 3600}}'`,
      ),
    ),
  ];
}
