'use strict';

// Names of mongodb-memory-server.

exports.MongoMemoryServerEvents = { stateChange: 'stateChange' };
exports.MongoMemoryServerStates = { new: 'new', starting: 'starting', running: 'running', stopped: 'stopped' };
exports.MongoMemoryReplSetEvents = { stateChange: 'stateChange' };
exports.MongoMemoryReplSetStates = { init: 'init', running: 'running', stopped: 'stopped' };
