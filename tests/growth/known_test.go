package growth

// known are the cases whose cost grows faster, with the reason.
var known = map[string]string{
	`expression: $reduce {input: "$w", initialValue: "", in: {$concat: ["$$value", "$$this"]}}`:         eachStep,
	`expression: $reduce {input: "$r", initialValue: [], in: {$concatArrays: ["$$value", ["$$this"]]}}`: eachStep,
	`expression: $reduce {input: "$r", initialValue: [], in: {$setUnion: ["$$value", ["$$this"]]}}`:     eachStep,
	`expression: $reduce {input: "$g", initialValue: {}, in: {$mergeObjects: ["$$value", "$$this"]}}`:   eachStep,

	`query operator: $nor documents $nor: [<<{x: -#i}>>]`:                          eachBranch,
	`query operator: $all one r: {$all: [<<#i>>]}`:                                 eachBranch,
	`query operator: $all one w: {$all: [<<"w#i">>]}`:                              eachBranch,
	`query operator: $and one $and: [<<{r: {$gte: #i}}>>]`:                         eachBranch,
	`stage: $bucket documents {groupBy: "$v", boundaries: [<<#i>>], default: "x"}`: eachBranch,

	`stage: $set stages fields`:                                                  "each of n stages returns a document of its own, with one more field",
	`stage: $group stages {_id: "$_id", v: {$first: "$v"}}`:                      aThousand,
	`stage: $sample stages {size: 5}`:                                            aThousand,
	`stage: $setWindowFields stages {sortBy: {v: 1}, output: {y: {$sum: "$v"}}}`: aThousand,
	`stage: $sortByCount stages "$v"`:                                            aThousand,
	`stage: $unionWith stages {coll: "missing", pipeline: []}`:                   aThousand,
	`stage: $unwind stages {path: "$missing", preserveNullAndEmptyArrays: true}`: aThousand,
}

const (
	eachStep   = "the value of each step is as long as the number of steps so far, as in MongoDB"
	eachBranch = "each value is compared with each of the branches, as in MongoDB"
	aThousand  = "a pipeline has at most a thousand stages, for which the checks between stages take a few milliseconds"
)
