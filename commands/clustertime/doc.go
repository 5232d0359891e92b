// Package clustertime hands out the cluster time: BSON timestamps that never repeat
// and never go back. Entries of the change log take theirs while they are the only
// writer, so that the log is in the order of its timestamps.
package clustertime
