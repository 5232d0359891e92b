package transaction

// Reap aborts transactions that have lasted too long, as Housekeeping does.
var Reap = reap
