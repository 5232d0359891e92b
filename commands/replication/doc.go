// Package replication has the commands of replica sets: hello's part of it, the
// configuration, stepping down.
package replication
