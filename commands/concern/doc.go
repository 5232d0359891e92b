// Package concern checks read and write concerns, and carries out write concerns: after
// a command that asks for it, it waits for the disk, and reports in the reply what it
// could not guarantee.
package concern
