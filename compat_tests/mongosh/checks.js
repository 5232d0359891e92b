// The checks of the shell's scripts: see node/checks.js. The shell makes its
// calls wait only in files that it runs itself, so this is a file of its own.
globalThis.assert = require('assert');

globalThis.check = function (name, fn) {
  try {
    fn();
    print(`ok ${name}`);
  } catch (e) {
    const why = String((e && e.stack) || e).split('\n').slice(0, 3).join('\\n');
    print(`not ok ${name}: ${why}`);
  }
};

// rejects runs fn, which must fail with the server's error code.
globalThis.rejects = function (code, fn) {
  let reply;
  let failed = false;
  try {
    reply = fn();
  } catch (e) {
    if (e.code !== code) throw new Error(`want error ${code}, got ${e.code}: ${e.message}`);
    failed = true;
  }
  if (!failed) throw new Error(`want error ${code}, got ${JSON.stringify(reply)}`);
};
