// Package applyops has the command applyOps, which applies entries of a change log: its
// arguments, its rights, and the changes that it makes, by other commands or by itself.
package applyops
