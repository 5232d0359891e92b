// Package source holds the stages that documents come from: $documents,
// $geoNear, and all whose documents the host makes up: $changeStream,
// $collStats, $indexStats, $currentOp, the lists of sessions, and so on. Their
// specifications are checked here; what they give is asked of
// [stage.Host]. The stages that a server of this kind refuses are here as well,
// and $changeStreamSplitLargeEvent, the other end of a change stream.
//
// The package stands above package stage.
package source
