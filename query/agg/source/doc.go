// Package source holds the stages that documents come from: $documents, $geoNear, and
// those whose documents the host makes: $changeStream, $collStats, $indexStats,
// $currentOp, $listSessions, and so on. The package checks their specifications; the
// [stage.Host] makes their documents. It also has the stages that a standalone server
// refuses, and $changeStreamSplitLargeEvent, the last stage of a change stream.
//
// Of the packages of agg it imports only package stage.
package source
