package growth

// windowed operators take a window; unwindowed ones have none.
const (
	windowed = `
	$avg: "$x" | $avg: "$v" | $bottom: {sortBy: {x: 1}, output: "$v"} | $bottomN: {n: 3, sortBy: {x: 1}, output: "$v"} | $count: {} | $covariancePop: ["$x", "$v"] | $covarianceSamp: ["$x", "$v"]
	$derivative: {input: "$x"} | $first: "$v" | $firstN: {n: 3, input: "$v"} | $integral: {input: "$x"} | $last: "$v" | $lastN: {n: 3, input: "$v"} | $max: "$x" | $max: "$v" | $maxN: {n: 3, input: "$v"} | $median: {input: "$x", method: "approximate"} | $minMaxScaler: {input: "$x"} | $min: "$x" | $min: "$v" | $min: "$s" | $minN: {n: 3, input: "$v"}
	$percentile: {input: "$x", p: [0.5], method: "approximate"} | $stdDevPop: "$x" | $stdDevSamp: "$x" | $sum: "$x" | $sum: "$v" | $top: {sortBy: {x: 1}, output: "$v"} | $topN: {n: 3, sortBy: {x: 1}, output: "$v"} | $addToSet: "$k" | $push: "$k" | $concatArrays: {$slice: [["$k"], 1]} | $setUnion: {$slice: [["$k"], 1]}`
	unwindowed = `
	$denseRank: {} | $documentNumber: {} | $expMovingAvg: {input: "$x", N: 5} | $linearFill: "$v" | $locf: "$v" | $rank: {} | $shift: {output: "$v", by: 1} | $shift: {output: "$v", by: -#h}`
)

// windows by documents and by the value of the sort field. The results of $push and $concatArrays are as large
// as the window; therefore that has a fixed number of documents.
var (
	windows = map[string]string{
		"all before":  `documents: ["unbounded", "current"]`,
		"all behind":  `documents: ["current", "unbounded"]`,
		"half around": `documents: [-#h, #h]`,
		"range":       `range: [-#h, 3]`,
	}
	small = map[string]string{"three": `documents: [-2, 0]`, "range of three": `range: [-2, 0]`}
)

func windowCases() (list []growth) {
	add := func(name, what, field string) {
		list = append(list, growth{name: name + " " + what, run: `{aggregate: "docs", pipeline: [{$setWindowFields: {sortBy: {v: 1}, output: {y: {` + field + `}}}}, {$project: {y: 1}}], cursor: {batchSize: 1000000}}`})
	}
	for _, spec := range specs(windowed) {
		name, arg := cut(spec)
		choice := windows
		if name == "$push" || name == "$concatArrays" {
			choice = small
		}
		for what, window := range choice {
			add(name, arg+" "+what, spec+`, window: {`+window+`}`)
		}
	}
	for _, spec := range specs(unwindowed) {
		name, arg := cut(spec)
		add(name, arg, spec)
	}
	return list
}
