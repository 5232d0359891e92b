'use strict';

const { DuskDBMemoryServer } = require('./memoryserver.js');
const { MongoMemoryServer } = require('./mongoms.js');
const { MongoMemoryReplSet } = require('./replset.js');
const { MongoMemoryServerEvents, MongoMemoryServerStates, MongoMemoryReplSetEvents, MongoMemoryReplSetStates } = require('./states.js');
const { milliseconds } = require('./duration.js');

// Named one by one, so that import { … } of a module finds them.
exports.DuskDBMemoryServer = DuskDBMemoryServer;
exports.MongoMemoryServer = MongoMemoryServer;
exports.MongoMemoryReplSet = MongoMemoryReplSet;
exports.MongoMemoryServerEvents = MongoMemoryServerEvents;
exports.MongoMemoryServerStates = MongoMemoryServerStates;
exports.MongoMemoryReplSetEvents = MongoMemoryReplSetEvents;
exports.MongoMemoryReplSetStates = MongoMemoryReplSetStates;
exports.milliseconds = milliseconds;
