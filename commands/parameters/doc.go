// Package parameters has the tables of server parameters and cluster parameters, each with
// its default, its check and the effect of a change.
package parameters
