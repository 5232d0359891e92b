// Package fusion has the stages that rank documents by several pipelines over the same
// collection, and those that set the score by which documents are ranked: $rankFusion,
// $scoreFusion and $score.
//
// As in mongod, $rankFusion and $scoreFusion stand for other stages. The input pipelines, in the
// order of their names, become
//
//	the stages of the first, input
//	$unionWith of each other one, input
//	$group by _id
//	result
//	$sort by score and _id
//
// where input wraps a document with the rank or score that it has in the pipeline, and result
// unwraps it and sets its metadata, "score" and "scoreDetails". So an input pipeline uses
// indexes, and spills to disk, as any other.
package fusion
