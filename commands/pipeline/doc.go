// Package pipeline connects aggregation (package query/agg) with the server:
// [Environment] opens the collections and the other sources that stages name, and
// carries out $out and $merge. Finds, counts and distincts on views run here, as
// equivalent pipelines.
package pipeline
