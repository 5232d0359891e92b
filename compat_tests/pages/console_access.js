// Who may do what in the web console, as a browser sees it: logins, users who may only
// read, a console that only reads, and pages of other sites. Run by TestConsoleAccess.
'use strict';
const assert = require('assert');
const http = require('http');
const net = require('net');
const { check } = require('../node/checks.js');
const { open } = require('./browser.js');

const { CONSOLE: site, NEIGHBOUR: neighbour, READONLY: readOnly, REALTIME: realTime, BROWSER, PROFILE } = process.env;
const rebound = 'evil.example'; // a name that leads to this machine

const says = (page, selector, text) => page.page.waitForFunction((s, t) => document.querySelector(s)?.innerText.includes(t), {}, selector, text);

// call calls the console from a page as its own scripts do, but with other headers.
const call = (page, path, body, headers = {}) => page.page.evaluate(async (p, b, h) => {
  const r = await fetch(p, { method: 'POST', headers: { 'Content-Type': 'application/json', ...h }, body: JSON.stringify(b) });
  return { status: r.status, reply: await r.json() };
}, path, body, headers);
const token = page => page.page.evaluate(() => sessionStorage.getItem('token'));
const command = async (page, db, c) => call(page, '/api/command', { db, command: c }, { 'X-CSRF-Token': await token(page) });

async function login(page, user, password, db) {
  await says(page, 'h1', 'Log in');
  await page.fill('input[name=user]', user);
  await page.fill('input[name=password]', password);
  await page.fill('input[name=db]', db);
  await page.click('form button.primary');
}
// The page may ask for a login before it has loaded again, as its next question is refused.
async function logout(page) {
  await page.page.bringToFront();
  await Promise.all([page.page.waitForNavigation({ waitUntil: 'load' }), page.click('#logout')]);
  await says(page, 'h1', 'Log in');
}

async function logins(page) {
  await check('nothing is shown without a login', async () => {
    await page.visit(site);
    await says(page, 'h1', 'Log in');
    assert.equal(await page.page.$eval('#nav', e => e.innerText), '');
    await page.refused([401], async () => {
      assert.equal((await call(page, '/api/command', { db: 'shop', command: { find: 'carts' } })).status, 401);
    });
  });
  await check('a wrong password', () => page.refused([401], async () => {
    await login(page, 'ada', 'wrong', 'admin');
    await says(page, 'form [role=alert]', 'authentication failed');
  }));
  await check('the right password', async () => {
    await login(page, 'ada', 's3cret', 'admin');
    await says(page, 'h1', 'What expires');
    await says(page, 'main', 'shop.carts');
    await page.whole();
  });
  await check('scripts cannot read the session', async () => {
    assert.equal(await page.page.evaluate(() => document.cookie), '');
    const [cookie] = await page.page.cookies();
    assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict', JSON.stringify(cookie));
    assert.equal(cookie.name, `duskdb_console_${new URL(site).port}`);
  });
  await check('the tab stays logged in when it is loaded again', async () => {
    await page.visit(site);
    await says(page, 'main', 'shop.carts');
    await page.page.reload({ waitUntil: 'load' });
    await says(page, 'main', 'shop.carts');
  });
  await check('events are shown to a user who has logged in', async () => {
    await page.page.evaluate(() => { location.hash = '#/live'; });
    await says(page, 'main', 'connected');
    await page.whole();
    await page.page.evaluate(() => { location.hash = '#/'; });
    await says(page, 'main', 'shop.carts');
  });
  await check('who may write is offered it', async () => {
    await page.page.evaluate(() => { location.hash = '#/collection/shop/carts/"anna"'; });
    await says(page, 'main', 'Why?');
    const buttons = await page.page.$$eval('main button', all => all.map(b => b.innerText));
    assert.deepEqual(buttons, ['Edit …', 'Delete …']);
    await page.page.evaluate(() => { location.hash = '#/'; });
    await says(page, 'main', 'shop.carts');
  });
  await check('another tab logs in for itself', async () => {
    const second = await page.another();
    await second.page.goto(site, { waitUntil: 'load' });
    await login(second, 'rita', 'pw', 'admin');
    await says(second, 'main', 'shop.carts');
    const user = async p => (await command(p, 'admin', { connectionStatus: 1 })).reply.authInfo.authenticatedUsers[0].user;
    assert.equal(await user(second), 'rita');
    assert.equal(await user(page), 'ada');
    await second.page.close();
  });
  await check('a call without the token is refused', () => page.refused([403], async () => {
    const c = { db: 'shop', command: { insert: 'forged', documents: [{ _id: 1 }] } };
    assert.equal((await call(page, '/api/command', c)).status, 403);
    assert.equal((await call(page, '/api/command', c, { 'X-CSRF-Token': '0'.repeat(64) })).status, 403);
    assert.equal((await call(page, '/api/logout', {})).status, 403);
    assert.equal((await command(page, 'shop', { count: 'forged' })).reply.n, 0);
  }));
}

// neighbours are two consoles on one host name, as two servers of one machine are.
async function neighbours(page) {
  await check('two consoles on one host do not log each other\'s users out', async () => {
    const second = await page.another();
    await second.page.goto(neighbour, { waitUntil: 'load' });
    await login(second, 'ada', 's3cret', 'admin');
    await says(second, 'h1', 'See time at work');
    await page.visit(site);
    await says(page, 'main', 'shop.carts');
    assert.equal((await command(second, 'admin', { connectionStatus: 1 })).status, 200);
    await logout(second);
    await page.visit(site);
    await says(page, 'main', 'shop.carts');
    await second.page.close();
  });
  await check('another port of the host cannot use the cookie that it gets', async () => {
    const at = await other('127.0.0.1'), tab = await page.another();
    try {
      await tab.page.goto(at.url, { waitUntil: 'load' });
      assert.equal(await tab.page.evaluate(() => Object.keys(sessionStorage).length + document.cookie.length), 0);
      const cookie = at.cookies.find(c => c.includes('duskdb_console'));
      assert.ok(cookie, 'browsers send cookies to all ports of a host');
      const send = async (path, body) => {
        const r = await fetch(site + path, { method: body ? 'POST' : 'GET', headers: { Cookie: cookie, 'Content-Type': 'application/json' }, body });
        return { status: r.status, text: r.status === 200 ? await r.text() : '' };
      };
      const session = await send('api/session');
      assert.ok(!/csrf|ada|version/.test(session.text), session.text);
      assert.equal((await send('api/command', '{"db": "admin", "command": {"testClock": 1}}')).status, 403);
      assert.equal((await send('api/logout', '{}')).status, 403);
      assert.equal((await send('api/events')).status, 403);
      // Nor can it put another cookie in its place: it is not for scripts.
      await tab.page.evaluate(name => { document.cookie = `${name}=x; path=/`; }, cookie.split('=')[0]);
      await page.visit(site);
      await says(page, 'main', 'shop.carts');
    } finally {
      await tab.page.close();
      at.close();
    }
  });
}

// other serves a page of another site, and keeps the cookies that browsers send to it.
function other(host) {
  const cookies = [];
  const server = http.createServer((q, r) => {
    cookies.push(q.headers.cookie ?? '');
    r.setHeader('Content-Type', 'text/html');
    r.end('<!doctype html><title>another site</title><iframe name="target"></iframe>');
  });
  return new Promise(done => server.listen(0, '127.0.0.1', () => done({ url: `http://${host}:${server.address().port}/`, cookies, close() { server.close(); server.closeAllConnections(); } })));
}

// attacks tries from a page of another site what changes something or reads something.
async function attacks(browser, url) {
  const tab = await browser.newPage();
  try {
    await tab.goto(url, { waitUntil: 'load' });
    return await tab.evaluate(async site => {
      const body = JSON.stringify({ db: 'shop', command: { insert: 'forged', documents: [{ by: 'another site' }] } });
      const attempt = async (path, options) => { try { const r = await fetch(site + path, { credentials: 'include', ...options }); return r.type === 'opaque' ? 'opaque' : r.status; } catch { return 'refused'; } };
      const out = {};
      out.json = await attempt('api/command', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
      out.blind = await attempt('api/command', { method: 'POST', body, mode: 'no-cors' });
      out.session = await attempt('api/session', {});
      out.events = await new Promise(done => { const s = new EventSource(`${site}api/events`, { withCredentials: true }); s.onopen = () => done('open'); s.onerror = () => { s.close(); done('refused'); }; });
      out.script = await new Promise(done => { const s = document.createElement('script'); s.src = `${site}lib.js`; s.onload = () => done('loaded'); s.onerror = () => done('refused'); document.head.append(s); });
      // A form: text/plain can look like JSON.
      const form = document.createElement('form');
      Object.assign(form, { method: 'POST', action: `${site}api/command`, enctype: 'text/plain', target: 'target' });
      const field = document.createElement('input');
      field.name = body.slice(0, -1) + ', "x": "'; field.value = '"}';
      form.append(field);
      document.body.append(form);
      const frame = document.querySelector('iframe'), loaded = new Promise(done => { frame.onload = done; });
      form.submit();
      await loaded;
      frame.src = site; // the console must not be shown within another page
      await new Promise(done => { frame.onload = done; });
      return out;
    }, site).then(async out => {
      const inside = tab.frames().find(f => f !== tab.mainFrame());
      out.frame = inside.url().startsWith('chrome-error:') || !(await inside.content()).includes('app.js') ? 'refused' : 'shown';
      return out;
    });
  } finally {
    await tab.close();
  }
}

async function strangers(browser, page) {
  for (const [name, host] of [['another site', 'localhost'], ['another port', '127.0.0.1']]) {
    await check(`a page of ${name} can neither read nor write`, async () => {
      const at = await other(host);
      try {
        const out = await attacks(browser, at.url);
        assert.deepEqual(out, { json: 'refused', blind: 'refused', session: 'refused', events: 'refused', script: 'refused', frame: 'refused' });
        assert.equal((await command(page, 'shop', { count: 'forged' })).reply.n, 0);
      } finally {
        at.close();
      }
    });
  }
  // The attacker's page comes first from its own server, then its name leads to the console:
  // for the browser the calls are of the same origin.
  await check('a name that leads here by DNS rebinding is refused', async () => {
    const at = await rebinding(), tab = await browser.newPage();
    try {
      await tab.goto(at.url, { waitUntil: 'load' });
      at.rebind();
      const seen = await tab.evaluate(async () => {
        const post = (path, b) => fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(b) });
        const found = await post('/api/command', { db: 'shop', command: { find: 'carts' } });
        return {
          text: (await found.json()).errmsg,
          statuses: [found.status, (await post('/api/login', { user: 'ada', password: 's3cret', db: 'admin' })).status, (await fetch('/api/session')).status, (await fetch('/')).status],
        };
      });
      assert.deepEqual(seen.statuses, [403, 403, 403, 403]);
      assert.match(seen.text, /not known as "evil\.example/);
    } finally {
      await tab.close();
      at.close();
    }
  });
}

// rebinding is the address of a name that leads to a page of an attacker, and after rebind to
// the console.
function rebinding() {
  const console = new URL(site), page = '<!doctype html><title>bait</title>';
  let bound = false;
  const sockets = new Set();
  const server = net.createServer(c => {
    sockets.add(c);
    c.on('error', () => {});
    if (!bound) { // until the request has come
      c.once('data', () => c.end(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: ${page.length}\r\n\r\n${page}`));
      return;
    }
    const to = net.connect(Number(console.port), console.hostname);
    to.on('error', () => c.destroy());
    c.on('close', () => to.destroy());
    c.pipe(to).pipe(c);
  });
  return new Promise(done => server.listen(0, '127.0.0.1', () => done({
    url: `http://${rebound}:${server.address().port}/`,
    rebind() { bound = true; for (const c of sockets) c.destroy(); },
    close() { server.close(); for (const c of sockets) c.destroy(); },
  })));
}

async function reader(page) {
  await check('after a logout nothing is shown', () => page.refused([401], async () => {
    await logout(page);
    assert.equal((await call(page, '/api/command', { db: 'shop', command: { find: 'carts' } })).status, 401);
  }));
  await check('a user who may only read sees their database alone', async () => {
    await login(page, 'rita', 'pw', 'admin');
    await says(page, 'main', 'shop.carts');
    assert.ok(!(await page.page.$eval('main', e => e.innerText)).includes('secret.plans'));
    await page.page.evaluate(() => { location.hash = '#/collection/shop/carts'; });
    await says(page, 'main', 'anna');
    await page.whole();
  });
  await check('and is offered no changes', async () => {
    const offered = () => page.page.$$eval('main button', all => all.map(b => b.innerText).filter(t => /Edit|Delete|Set|Create/.test(t)));
    assert.deepEqual(await offered(), []);
    for (const hash of ['#/collection/shop/carts/"anna"', '#/collections', '#/queues']) {
      await page.page.evaluate(h => { location.hash = h; }, hash);
      await page.page.waitForFunction(() => document.querySelector('main h1'));
      await says(page, 'main', { '#/collections': 'Each collection has a policy', '#/queues': 'shop.orders' }[hash] ?? 'Why?');
      assert.deepEqual(await offered(), [], hash);
    }
    await page.whole();
  });
  await check('and cannot write', () => page.refused([403], async () => {
    const write = await command(page, 'shop', { insert: 'carts', documents: [{ _id: 'x' }] });
    assert.equal(write.reply.code, 13, JSON.stringify(write));
    assert.equal((await command(page, 'secret', { find: 'plans' })).reply.code, 13);
    await page.page.evaluate(() => { location.hash = '#/try'; });
    await says(page, 'main', 'A TTL index');
    await page.click('::-p-xpath(//button[normalize-space(.)="Run"])');
    await says(page, 'main .note.bad', 'not authorized');
  }));
  await check('sees topics and sessions, and cannot accept one', () => page.refused([403], async () => {
    await page.page.evaluate(() => { location.hash = '#/queue/shop/orders'; });
    await says(page, 'main table', '$Default: all messages');
    await page.page.evaluate(() => { location.hash = '#/queue/shop/talks/sessions'; });
    await says(page, '[role=tabpanel]', 'anna');
    await page.click('button[aria-label="Accept the session anna"]');
    await says(page, 'main .note.bad', 'not authorized');
  }));
  await check('the pages that need more rights say so', () => page.refused([400, 403], async () => {
    await page.page.evaluate(() => { location.hash = '#/passes'; });
    await says(page, 'main', 'not authorized');
    await page.page.evaluate(() => { location.hash = '#/live'; });
    await says(page, 'main', 'privilege');
  }));
}

async function onlyReads(page) {
  await check('a console that only reads offers no changes', async () => {
    await page.visit(readOnly);
    await says(page, 'h1', 'See time at work');
    assert.ok(await page.page.$$eval('main button', all => all.filter(b => b.innerText === 'Run').every(b => b.disabled)));
    const clock = await page.page.waitForSelector('#clock input[type=range]');
    const before = (await call(page, '/api/command', { db: 'admin', command: { testClock: 1 } })).reply;
    await clock.focus();
    for (const key of ['PageUp', 'PageUp', 'Enter']) await page.page.keyboard.press(key);
    for (const text of ['+1 min', 'Freeze', 'Run pass now']) {
      const b = await page.page.$(`::-p-xpath(//div[@id="clock"]//button[normalize-space(.)="${text}"])`);
      if (b) assert.ok(!(await b.isVisible()) || await b.evaluate(e => e.disabled), `${text} can be clicked`);
    }
    const after = (await call(page, '/api/command', { db: 'admin', command: { testClock: 1 } })).reply;
    assert.deepEqual(after.offsetMillis, before.offsetMillis);
    await page.whole();
  });
  await check('and refuses them', () => page.refused([403], async () => {
    for (const c of [{ insert: 'c', documents: [{}] }, { testClock: 1, advanceSeconds: 1 }, { mqPurge: 'q' }, { aggregate: 'c', pipeline: [{ $out: 'd' }], cursor: {} }]) {
      const r = await call(page, '/api/command', { db: 'admin', command: c });
      assert.equal(r.status, 403);
      assert.match(r.reply.errmsg, /read-only/);
    }
  }));
}

// A server whose clock cannot be moved.
async function withoutClock(page) {
  await check('without a test clock there are all pages, but no clock', async () => {
    await page.visit('about:blank');
    for (const [hash, h1] of [['#/', 'See time at work'], ['#/try', 'Try it'], ['#/queues', 'Queues'], ['#/live', 'Live'], ['#/passes', 'Passes and metrics']]) {
      await page.page.goto(realTime + hash);
      await says(page, 'h1', h1);
      assert.equal(await page.page.$eval('#clock', e => e.hidden), true);
      await page.whole();
    }
    await page.page.goto(`${realTime}#/try`);
    await says(page, 'main', 'With --test-clock you could move time');
    await page.click('::-p-xpath(//button[normalize-space(.)="Run"])');
    await says(page, 'h1', 'carts');
    await page.page.goto(`${realTime}#/`);
    await says(page, 'h1', 'What expires');
    await says(page, 'main', 'try.carts');
    await says(page, 'main', 'Memory');
    await page.whole();
  });
}

async function main() {
  const { browser, page } = await open(BROWSER, PROFILE, [`--host-resolver-rules=MAP ${rebound} 127.0.0.1`]);
  try {
    await logins(page);
    await neighbours(page);
    await strangers(browser, page);
    await reader(page);
    await onlyReads(page);
    await withoutClock(page);
  } finally {
    await browser.close();
  }
  console.log('done');
}

main().catch(e => { console.log(`not ok the console: ${String(e.stack).split('\n').join('\\n')}`); process.exit(1); });
