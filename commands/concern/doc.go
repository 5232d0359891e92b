// Package concern checks read and write concerns and carries the latter out: it waits
// for the disk after a command that asked for it, and says in the reply what could not
// be had.
package concern
