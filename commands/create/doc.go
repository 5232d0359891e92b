// Package create makes collections: it checks the options of the create command, as
// mongod does, and what kind of collection they ask for (capped, clustered, view,
// time series, queue). $out and mapReduce use it too.
package create
