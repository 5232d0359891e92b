// Package group holds $group and $bucketAuto, and the stages that are compiled into a
// $group: $bucket, $count and $sortByCount.
//
// An [Accumulation] is a compiled {field: {$sum: "$x"}} (accumulation.go, one
// line for each accumulator; those that run JavaScript in script.go). It says
// which value of each document is fed to an accumulator of package accumulate.
// A [Run] keeps a group for each key, and writes the groups as a sorted run to
// disk (package spill) when they outgrow the memory limit; in the end the parts
// of each group are merged.
//
// mongod runs some $group stages in its slot-based engine, whose errors have other
// codes; slots.go finds these stages.
//
// The package stands above stage, flow and order.
package group
