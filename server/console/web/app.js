// The frame: which page is shown, the session, and the colours.
import { el, fill, state, post, greet, token, failure, button, admin, ms } from './lib.js';
import { overview } from './overview.js';
import { collection, policy, indexes } from './collection.js';
import { withoutPolicy } from './collections.js';
import { queues } from './queues.js';
import { queue } from './queue.js';
import { live, moved } from './live.js';
import { passes } from './passes.js';
import { tryIt } from './tryit.js';
import { clockBar } from './clock.js';
import { also } from './outlook.js';

const pages = {
  '': overview,
  collection,
  policy,
  indexes,
  collections: withoutPolicy,
  queues,
  queue,
  live,
  moved,
  passes,
  try: tryIt,
};
// The pages that belong to a link though it does not name them.
const within = {
  queue: 'queues',
  moved: 'live',
  collection: '',
  policy: '',
  indexes: '',
  collections: '',
};
const links = [
  ['', 'Overview'],
  ['queues', 'Queues'],
  ['live', 'Live'],
  ['passes', 'Passes'],
  ['try', 'Try it'],
];
const main = document.getElementById('main');

function colours(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  localStorage.setItem('theme', theme ?? '');
}
document.getElementById('theme').onclick = () => {
  const now =
    document.documentElement.dataset.theme ??
    (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  colours(now === 'dark' ? 'light' : 'dark');
};
colours(localStorage.getItem('theme') || undefined);

const out = document.getElementById('logout');
out.onclick = async () => {
  try {
    await post('/api/logout', {});
  } finally {
    token.drop();
    location.reload();
  }
};

function login() {
  document.title = 'Log in · DuskDB';
  const user = el('input', { name: 'user', autocomplete: 'username', required: true }),
    password = el('input', {
      name: 'password',
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    }),
    db = el('input', { name: 'db', value: 'admin', required: true });
  const form = el(
    'form',
    {},
    el('label', {}, 'User', user),
    el('label', {}, 'Password', password),
    el('label', {}, 'Database of the user', db),
    el('button', { class: 'primary' }, 'Log in'),
  );
  form.onsubmit = async e => {
    e.preventDefault();
    form.querySelector('.note')?.remove();
    try {
      const reply = await post('/api/login', {
        user: user.value,
        password: password.value,
        db: db.value,
      });
      token.set(reply.csrf);
      await greet();
      show();
    } catch (error) {
      form.append(failure(error));
      password.select();
    }
  };
  fill(main, el('section', { class: 'card login' }, el('h1', {}, 'Log in'), form));
  user.focus();
}

// told is what the last page had to tell.
function told() {
  const text = state.told;
  state.told = undefined;
  return text && el('p', { class: 'note good', role: 'status' }, text);
}

// land goes to the part of the page that the address names.
function land() {
  const part = main.querySelector('[data-land]');
  part?.focus({ preventScroll: true });
  part?.closest('form, section').scrollIntoView({ block: 'center' });
}

// show shows the page that the address names.
async function show() {
  const [name, ...args] = location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  state.page = Symbol(name);
  also({});
  const page = state.page;
  const stranger = state.session.auth && !state.session.user;
  document.getElementById('nav').replaceChildren(
    ...(stranger
      ? []
      : links.map(([id, text]) =>
          el(
            'a',
            {
              href: `#/${id}`,
              'aria-current': id === (within[name] ?? name) ? 'page' : undefined,
            },
            text,
          ),
        )),
  );
  out.hidden = !state.session.user;
  if (stranger) return login();
  clockBar();
  document.title = `${links.find(l => l[0] === name)?.[1] ?? args.slice(0, 2).join('.')} · DuskDB`;
  try {
    const content = await (pages[name] ?? overview)(...args);
    if (state.page !== page) return;
    fill(main, told(), ...[content].flat());
    land();
  } catch (e) {
    if (state.page === page) fill(main, failure(e), button('Try again', show));
  }
}

addEventListener('pageshow', e => {
  if (e.persisted) show();
});
addEventListener('hashchange', () => {
  for (const d of document.querySelectorAll('dialog')) d.close();
  fill(main, el('p', { class: 'muted' }, 'Loading …'));
  show();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});

try {
  await greet();
  if (!state.session.auth || state.session.user)
    state.now = ms((await admin({ hello: 1 })).localTime);
  await show();
} catch (e) {
  fill(main, failure(e));
}
