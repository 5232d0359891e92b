package transaction

// Reap aborts transactions that have lasted too long, as Housekeeping does.
var Reap = reap

// PlainID reads an lsid that has nothing but its UUID.
var PlainID = plainID
