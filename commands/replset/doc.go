// Package replset is the state of a replica set whose only member is this server: its
// configuration, which it parses and checks as mongod does, and the state of the primary. The
// commands that show and change it are in package replication.
package replset
