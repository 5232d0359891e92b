'use strict';

const fs = require('node:fs');
const { closest } = require('./names.js');

// The names of the options of every class. A name that is in none of these lists is refused: an
// option that is misspelt, or that stands in the wrong place, would otherwise have no effect.

/** Options of DuskDBMemoryServer. A list instead of true names the options within. */
const FLAT = {
  binary: true, port: true, ip: true, dbpath: true, now: true, replSet: true, auth: ['username', 'password'],
  parameters: true, logs: true, launchTimeout: true, spawn: true, args: true,
};

const INSTANCE = [
  'args', 'port', 'ip', 'storageEngine', 'dbPath', 'dbName', 'replSet', 'auth', 'launchTimeout', 'portGeneration',
  'replicaMemberConfig', 'now', 'parameters', 'logs',
];
const BINARY = ['systemBinary', 'version', ...['downloadDir', 'arch', 'os', 'platform', 'checkMD5', 'skipMD5'] /* no effect */];
const AUTH = ['enable', 'customRootName', 'customRootPwd', 'extraUsers', 'force', 'keyfileContent'];
const DISPOSE = ['enabled', 'cleanup'];

/** Options of MongoMemoryServer. */
const SERVER = { instance: INSTANCE, binary: BINARY, spawn: true, auth: AUTH, dispose: DISPOSE };

/** Options of MongoMemoryReplSet. */
const REPLSET = {
  instanceOpts: true, binary: BINARY, dispose: DISPOSE,
  replSet: [
    'count', 'name', 'dbName', 'ip', 'auth', 'args', 'oplogSize', 'spawn', 'storageEngine', 'launchTimeout',
    'configSettings', 'now', 'parameters', 'logs',
  ],
};

/** Options of one class, to say where an option of another class belongs. */
const CLASSES = { DuskDBMemoryServer: FLAT, MongoMemoryServer: SERVER, MongoMemoryReplSet: REPLSET };

const text = (value) => typeof value === 'string' && value !== '';
const plain = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const setting = (value) => ['string', 'number', 'boolean'].includes(typeof value);

/** What the options of DuskDBMemoryServer must be; now is read by instant. */
const KINDS = {
  binary: ['the path of a program', text],
  port: ['a port from 0 to 65535', (value) => (typeof value === 'number' || text(value)) && Number.isInteger(Number(value)) && value >= 0 && value <= 65535],
  ip: ['an address', text],
  dbpath: ['the path of a directory', text],
  replSet: ['the name of a replica set', text],
  auth: ['{ username, password }', (value) => text(value?.username) && text(value.password)],
  parameters: ['an object such as { ttlMonitorSleepSecs: 1 }', (value) => plain(value) && Object.values(value).every(setting)],
  logs: ['true, a stream or a function', (value) => typeof value === 'boolean' || typeof value === 'function' || typeof value?.write === 'function'],
  launchTimeout: ['a number of milliseconds greater than 0', (value) => typeof value === 'number' && value > 0 && value < 2 ** 31],
  spawn: ['an object with options of the child process', plain],
  args: ['an array of flags', (value) => Array.isArray(value) && value.every((flag) => typeof flag === 'string')],
};

/** Throws a TypeError unless all options of a class have names that it knows, and are what they must be. */
function checkOptions(className, options) {
  const known = CLASSES[className];
  checkNames(options, Object.keys(known), className, '', (name) => elsewhere(className, name));
  for (const [name, within] of Object.entries(known)) {
    if (!Array.isArray(within) || options[name] === undefined) continue;
    if (plain(options[name])) checkNames(options[name], within, className, `${name}.`);
    else if (className !== 'DuskDBMemoryServer' && !isSwitch(name, options[name])) throw wrong(name, 'an object', options[name]);
  }
  if (className === 'DuskDBMemoryServer') checkKinds(options);
  else checkWithin(className, options);
}

/** mongodb-memory-server takes auth: true for all defaults. */
function isSwitch(name, value) {
  return name === 'auth' && typeof value === 'boolean';
}

/** Checks what is nested in the options of mongodb-memory-server and would be misread. */
function checkWithin(className, { instance, auth, replSet, instanceOpts = [] }) {
  if (!Array.isArray(instanceOpts) || instanceOpts.some((member) => member && !plain(member))) throw wrong('instanceOpts', 'an array of objects', instanceOpts);
  for (const member of instanceOpts) if (member) checkNames(member, INSTANCE, className, 'instanceOpts.');
  for (const [name, args] of [['instance', instance?.args], ['replSet', replSet?.args]]) {
    if (args !== undefined && !Array.isArray(args)) throw wrong(`${name}.args`, 'an array of flags', args);
  }
  if (auth?.extraUsers !== undefined && !Array.isArray(auth.extraUsers)) throw wrong('auth.extraUsers', 'an array of users', auth.extraUsers);
  if (plain(replSet?.auth)) checkNames(replSet.auth, AUTH, className, 'replSet.auth.');
}

function checkKinds(options) {
  for (const [name, [kind, fits]] of Object.entries(KINDS)) {
    const value = options[name];
    if (value !== undefined && !fits(value)) throw wrong(name, kind, value);
  }
  const { stdio, cwd } = options.spawn ?? {};
  if (stdio !== undefined) throw new TypeError('the option spawn.stdio would have no effect: the option logs says where the output goes');
  if (cwd !== undefined && !fs.existsSync(cwd)) throw new TypeError(`the option spawn.cwd is ${cwd}, which does not exist`);
}

function wrong(name, kind, value) {
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value) ?? String(value);
  return new TypeError(`the option ${name} must be ${kind}, not ${shown}`);
}

function checkNames(options, known, className, prefix, advice = () => undefined) {
  if (!plain(options)) throw new TypeError(`${className} takes an object with options, not ${JSON.stringify(options)}`);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = closest(name, known);
    const wayOut = advice(name) ?? (meant ? `did you mean ${prefix}${meant}?` : `its options: ${known.map((other) => prefix + other).join(', ')}`);
    throw new TypeError(`${className} has no option ${prefix}${name}; ${wayOut}`);
  }
}

/** Says where an option belongs that another class has. */
function elsewhere(className, name) {
  if (className === 'DuskDBMemoryServer') {
    if (name === 'instance' || name === 'dispose') return `its options stand directly in the object: create({ port: 27017 }). MongoMemoryServer has ${name}`;
    return name === 'instanceOpts' ? 'MongoMemoryReplSet has it' : undefined;
  }
  if (className === 'MongoMemoryServer') {
    if (name === 'dbpath') return 'write instance: { dbPath: … }';
    if (INSTANCE.includes(name)) return `write instance: { ${name}: … }, or use DuskDBMemoryServer`;
    return name === 'instanceOpts' ? 'MongoMemoryReplSet has it' : undefined;
  }
  if (name === 'instance') return 'write instanceOpts: [{ … }]';
  return REPLSET.replSet.includes(name) ? `write replSet: { ${name}: … }` : undefined;
}

module.exports = { checkNames, checkOptions };
