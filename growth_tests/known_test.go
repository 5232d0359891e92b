package growth_tests

// known are the cases whose cost grows faster, with the reason.
var known = map[string]string{
	`expression: $reduce {input: "$w", initialValue: "", in: {$concat: ["$$value", "$$this"]}}`:         eachStep,
	`expression: $reduce {input: "$r", initialValue: [], in: {$concatArrays: ["$$value", ["$$this"]]}}`: eachStep,
	`expression: $reduce {input: "$r", initialValue: [], in: {$setUnion: ["$$value", ["$$this"]]}}`:     eachStep,
	`expression: $reduce {input: "$g", initialValue: {}, in: {$mergeObjects: ["$$value", "$$this"]}}`:   eachStep,
	`stage: $set stages fields`: "each of n stages returns a document of its own, with one more field",
}

const eachStep = "the value of each step is as long as the number of steps so far, as in MongoDB"
