// Package replset is the state of a replica set whose only member is this server:
// its configuration, read and checked as mongod does, and who leads since when. The
// commands that show and change it are in package replication.
package replset
