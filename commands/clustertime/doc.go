// Package clustertime hands out the cluster time: BSON timestamps that never repeat
// and never go back. Entries of the change log take theirs from the engine, which
// gives them to all servers in the order of the commits.
package clustertime
