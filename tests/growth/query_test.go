package growth

// onDocuments are filters over the collection docs, whose field v has an index.
const onDocuments = `
	$eq: v: {$eq: 5} | $gt: v: {$gt: 5} | $gte: v: {$gte: 5} | $lt: v: {$lt: 5} | $lte: x: {$lte: 5} | $ne: x: {$ne: 5} | $gt: x: {$gt: 5}
	$in: v: {$in: [<<#i>>]} | $in: x: {$in: [<<#i>>]} | $in: s: {$in: [<<"s#i">>]} | $nin: x: {$nin: [<<-#i>>]} | $nin: v: {$nin: [<<#i>>]} | $in: s: {$in: [1, {$regularExpression: {pattern: "^a", options: ""}}, <<"x#i">>]}
	$exists: y: {$exists: false} | $type: x: {$type: ["double", "int"]} | $mod: v: {$mod: [3, 1]} | $regex: s: {$regex: "^s1"} | $options: s: {$regex: "S1", $options: "i"}
	$size: r: {$size: 1} | $all: r: {$all: [1]} | $elemMatch: r: {$elemMatch: {$gt: 3}} | $not: v: {$not: {$gt: 3}}
	$bitsAllClear: v: {$bitsAllClear: 1} | $bitsAllSet: v: {$bitsAllSet: 1} | $bitsAnyClear: v: {$bitsAnyClear: 1} | $bitsAnySet: v: {$bitsAnySet: 1}
	$and: $and: [{v: {$gt: 1}}, {x: {$gt: 1}}] | $or: $or: [<<{v: #i}>>] | $or: $or: [<<{x: #i}>>] | $or: $or: [<<{v: {$gte: #i, $lt: #i}}>>] | $nor: $nor: [{v: 1}, {x: 2}] | $nor: $nor: [<<{x: -#i}>>]
	$comment: $comment: "c" | $expr: $expr: {$gt: ["$v", 3]} | $expr: $expr: {$in: ["$x", [<<#i>>]]} | $alwaysFalse: $alwaysFalse: 1 | $alwaysTrue: $alwaysTrue: 1 | $sampleRate: $sampleRate: 0.5
	$jsonSchema: $jsonSchema: {properties: {v: {minimum: 3}}} | $where: $where: "this.v > 3"
	$geoWithin: l: {$geoWithin: {$centerSphere: [[0, 0], 1]}} | $geoIntersects: l: {$geoIntersects: {$geometry: {type: "Point", coordinates: [1, 1]}}} | $within: l: {$within: {$center: [[0, 0], 3]}}
	$near: l: {$near: {$geometry: {type: "Point", coordinates: [0, 0]}}} | $nearSphere: l: {$nearSphere: {$geometry: {type: "Point", coordinates: [0, 0]}}} | $geoNear: l: {$geoNear: {$geometry: {type: "Point", coordinates: [0, 0]}}}
	$text: $text: {$search: "word"} | $text: $text: {$search: "word -none#n"} | $ref: p: {$ref: "c", $id: 1} | $id: p: {$ref: "c", $id: 1} | $db: p: {$ref: "c", $id: 1, $db: "d"}`

// onOne are filters with n branches, names or elements over the collection one.
const onOne = `
	$eq: r: {$eq: [<<#i>>]} | $eq: r: -1 | $eq: <<"o.f#i": #i>> | $eq: <<"f#i": null>> | $ne: r: {$ne: [<<#i>>]} | $gt: r: {$gt: [<<#i>>]} | $gte: r: {$gte: [<<#i>>]} | $lt: r: {$lt: [<<#i>>]} | $lte: r: {$lte: [<<#i>>]}
	$all: r: {$all: [<<#i>>]} | $all: w: {$all: [<<"w#i">>]} | $all: r: {$all: [1, -1]} | $all: g: {$all: [<<{$elemMatch: {a: 1, b: -1}}>>]} | $and: $and: [<<{"o.f#i": #i}>>] | $and: $and: [<<{y#i: null}>>] | $and: $and: [<<{r: {$gte: #i}}>>]
	$or: $or: [<<{"o.f#i": -1}>>] | $or: $or: [<<{y#i: 1}>>] | $or: $or: [<<{y: #i, v: 1}>>] | $nor: $nor: [<<{"o.f#i": -1}>>] | $nor: $nor: [<<{y#i: 1}>>] | $or: $or: [<<{v: #i}>>] | $or: $or: [{$or: [<<{v: #i}>>]}, {y: 1}]
	$in: r: {$in: [<<-#i>>]} | $in: r: {$in: [<<"a#i">>]} | $nin: r: {$nin: [<<-#i>>]} | $elemMatch: r: {$elemMatch: {$lt: 0}} | $elemMatch: g: {$elemMatch: {a: -1, b: 1}} | $elemMatch: g: {$elemMatch: {<<"y#i": null>>}}
	$exists: $and: [<<{"o.f#i": {$exists: true}}>>] | $type: r: {$type: "string"} | $not: $and: [<<{y#i: {$not: {$gt: 3}}}>>] | $mod: r: {$mod: [7, 9]} | $regex: w: {$regex: "^x"} | $regex: s: {$regex: "zz$"} | $options: s: {$regex: "ZZ$", $options: "i"} | $size: r: {$size: #n}
	$bitsAllClear: v: {$bitsAllClear: [<<1>>]} | $bitsAllSet: v: {$bitsAllSet: [<<1>>]} | $bitsAnyClear: v: {$bitsAnyClear: [<<1>>]} | $bitsAnySet: v: {$bitsAnySet: [<<1>>]} | $bitsAllSet: r: {$bitsAllSet: 1000000000}
	$expr: $expr: {$and: [<<{$eq: ["$v", 5]}>>]} | $expr: $expr: {$or: [<<{$eq: ["$v", -#i]}>>]} | $comment: $and: [<<{$comment: "c"}>>] | $alwaysTrue: $and: [<<{$alwaysTrue: 1}>>] | $alwaysFalse: $or: [<<{$alwaysFalse: 1}>>] | $sampleRate: $and: [<<{$sampleRate: 1.0}>>]
	$jsonSchema: $jsonSchema: {properties: {o: {properties: {<<f#i: {minimum: 0}>>}}}} | $jsonSchema: $jsonSchema: {properties: {r: {items: {minimum: 0}}}} | $jsonSchema: $jsonSchema: {properties: {r: {uniqueItems: true}}} | $jsonSchema: $jsonSchema: {properties: {g: {uniqueItems: true}}} | $jsonSchema: $jsonSchema: {properties: {o: {required: [<<"f#i">>]}}}
	$jsonSchema: $jsonSchema: {properties: {v: {enum: [<<#i>>]}}} | $jsonSchema: $jsonSchema: {properties: {o: {properties: {<<f#i: {}>>}, additionalProperties: false}}} | $jsonSchema: $jsonSchema: {anyOf: [<<{properties: {v: {minimum: 100}}}>>, {}]} | $jsonSchema: $jsonSchema: {properties: {o: {dependencies: {<<f#i: ["f0"]>>}}}} | $jsonSchema: $jsonSchema: {properties: {r: {items: [<<{minimum: 0}>>]}}} | $jsonSchema: $jsonSchema: {properties: {o: {patternProperties: {"^f": {minimum: 0}}}}}
	$geoWithin: l: {$geoWithin: {$polygon: [[0, 0], <<[3, #i]>>]}} | $within: l: {$within: {$polygon: [[0, 0], <<[3, #i]>>]}} | $text: $text: {$search: "<<word#i >>"} | $where: $where: "this.r.length > 0"`

func queryCases() (list []growth) {
	filters := func(coll, dimension, text string) {
		for _, spec := range specs(text) {
			name, filter := cut(spec)
			list = append(list, growth{name: name + " " + dimension + " " + filter, run: `{find: "` + coll + `", filter: {` + filter + `}, batchSize: 1000000}`})
		}
	}
	filters("docs", "documents", onDocuments)
	filters("one", "one", onOne)
	return list
}
