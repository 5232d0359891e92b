'use strict';

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

/** What some options of DuskDBMemoryServer must be. */
const KINDS = {
  launchTimeout: ['a number of milliseconds', (value) => typeof value === 'number' && value >= 0],
  port: ['a port from 0 to 65535', (value) => Number.isInteger(Number(value)) && value >= 0 && value <= 65535],
  args: ['an array of flags', Array.isArray],
  replSet: ['the name of a replica set', (value) => typeof value === 'string'],
  auth: ['{ username, password }', (value) => typeof value?.username === 'string' && typeof value.password === 'string'],
  logs: ['true, a stream or a function', (value) => typeof value === 'boolean' || typeof value === 'function' || typeof value?.write === 'function'],
};

/** Throws a TypeError unless all options of a class have names that it knows. */
function checkOptions(className, options) {
  const known = CLASSES[className];
  checkNames(options, Object.keys(known), className, '', (name) => elsewhere(className, name));
  for (const [name, within] of Object.entries(known)) {
    if (Array.isArray(within) && options[name] && typeof options[name] === 'object') {
      checkNames(options[name], within, className, `${name}.`);
    }
  }
  if (className === 'DuskDBMemoryServer') checkKinds(options);
  if (className !== 'MongoMemoryReplSet') return;
  for (const instance of options.instanceOpts ?? []) if (instance) checkNames(instance, INSTANCE, className, 'instanceOpts.');
  const auth = options.replSet?.auth;
  if (auth && typeof auth === 'object') checkNames(auth, AUTH, className, 'replSet.auth.');
}

function checkKinds(options) {
  for (const [name, [kind, fits]] of Object.entries(KINDS)) {
    const value = options[name];
    if (value !== undefined && !fits(value)) throw new TypeError(`the option ${name} must be ${kind}, not ${JSON.stringify(value) ?? String(value)}`);
  }
}

function checkNames(options, known, className, prefix, advice = () => undefined) {
  if (options === null || typeof options !== 'object') throw new TypeError(`${className} takes an object with options, not ${JSON.stringify(options)}`);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = known.find((other) => distance(other.toLowerCase(), name.toLowerCase()) <= 2);
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

/** The number of letters to insert, remove or replace between two words, or to swap with the next one. */
function distance(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i].push(Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced));
    }
  }
  return rows[a.length][b.length];
}

module.exports = { checkNames, checkOptions };
