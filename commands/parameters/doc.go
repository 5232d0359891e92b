// Package parameters is the table of server parameters and that of cluster parameters,
// each with its default, its check and what a change does.
package parameters
