// Package mq has the commands of message queues: send, receive, settle, browse. The
// rules are those of package queue (semantics.md §9).
package mq
