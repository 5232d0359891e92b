// A browser without a window, and what the checks do with its page.
'use strict';
const path = require('path');
const puppeteer = require('puppeteer-core');

// open starts the browser with a profile of its own, and further arguments.
async function open(program, profile, more = []) {
  const browser = await puppeteer.launch({
    executablePath: program,
    headless: true,
    userDataDir: profile,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', ...more],
  });
  return { browser, page: await tab(browser) };
}

// tab opens a tab.
async function tab(browser) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1200, height: 900 });
  page.setDefaultTimeout(20000);
  return new Page(page);
}

// Page is one tab. Everything that goes wrong behind it is kept as a fault.
class Page {
  constructor(page) {
    this.page = page;
    this.faults = [];
    this.allowed = []; // statuses of replies that are no faults at present
    this.shots = 0;
    page.on('pageerror', e => this.faults.push(`script: ${e.message}`));
    page.on('response', r => {
      if (r.status() >= 400 && !this.allowed.includes(r.status())) this.faults.push(`${r.status()} ${r.url()}`);
    });
  }

  // refused does something that the server refuses with one of the statuses. The browser tells
  // of a reply after the page has it, and the page asks by itself as well: the statuses are
  // allowed until nothing but an endless reply is under way.
  async refused(statuses, act) {
    this.allowed = statuses;
    try {
      await act();
      await this.page.waitForNetworkIdle({ idleTime: 200, concurrency: 1 });
    } finally {
      this.allowed = [];
    }
  }

  // another opens another tab of the same browser.
  another() { return tab(this.page.browser()); }

  // visit opens an address in the front, where alone browsers draw and the console asks for
  // news, and looks whether the page is whole.
  async visit(url) {
    await this.page.bringToFront();
    await this.page.goto(url, { waitUntil: 'load' });
    await this.whole();
  }

  // submit clicks on what loads another page.
  async submit(selector) {
    await Promise.all([this.page.waitForNavigation({ waitUntil: 'load' }), this.click(selector)]);
    await this.whole();
  }

  // click waits until something can be seen, and clicks on it.
  async click(selector) {
    const e = await this.page.waitForSelector(selector, { visible: true });
    await e.click();
  }

  async fill(selector, text) {
    await this.page.waitForSelector(selector, { visible: true });
    await this.page.$eval(selector, e => { e.value = ''; });
    await this.page.type(selector, text);
  }

  // write replaces the text of the editor that stands for a field.
  async write(field, text) {
    await this.page.waitForSelector(`${field} + .CodeMirror`, { visible: true });
    await this.page.$eval(`${field} + .CodeMirror`, (e, t) => e.CodeMirror.setValue(t), text);
  }

  // shown opens a dialogue and waits until it has come to rest.
  async dialogue(button, selector) {
    await this.click(button);
    await this.page.waitForFunction(s => {
      const e = document.querySelector(s);
      return e && e.classList.contains('in') && getComputedStyle(e).opacity === '1';
    }, {}, selector);
  }

  texts(selector) {
    return this.page.$$eval(selector, all => all.map(e => e.innerText.trim()));
  }

  // table is the cells of a table, row by row.
  table(selector) {
    return this.page.$$eval(`${selector} tr`, rows => rows.map(r => [...r.children].map(c => c.innerText.trim())));
  }

  // whole fails if the page says or shows that something went wrong.
  async whole() {
    const alerts = await this.texts('.alert-danger, .alert-error');
    if (alerts.length) throw new Error(`the page says: ${alerts.join('; ')}`);
    const text = await this.page.$eval('body', b => b.innerText);
    const odd = /\b(NaN|undefined|\[object Object\])/.exec(text);
    if (odd) throw new Error(`the page shows ${odd[0]}: …${text.slice(Math.max(0, odd.index - 80), odd.index + 40)}…`);
    if (this.faults.length) throw new Error(this.faults.splice(0).join('; '));
  }

  // shot keeps a picture of the page, if somebody asked for pictures.
  async shot(name) {
    if (!process.env.PICTURES) return;
    this.shots++;
    const file = `${String(this.shots).padStart(2, '0')}-${name}.png`;
    await this.page.screenshot({ path: path.join(process.env.PICTURES, file), fullPage: true });
  }
}

module.exports = { open };
