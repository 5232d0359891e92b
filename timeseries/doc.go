// Package timeseries stores measurements in buckets: it defines time-series
// collections, packs measurements into buckets and unpacks them, and
// translates filters, indexes and updates on measurements to those on buckets.
//
// # Buckets
//
// A bucket is one document of the collection system.buckets.<name>. It holds
// measurements of the same meta value whose times lie within the span of the
// collection, column by column:
//
//	{_id:     ObjectId,              // its seconds are those of control.min.<time>
//	 control: {version: 1,
//	           min: {<field>: …},    // minimum of each field; of the time: rounded down
//	           max: {<field>: …},    // greatest value of each field
//	           count: n,
//	           closed: true},        // takes no more measurements
//	 meta:    …,                     // absent if the measurements have none
//	 data:    {<field>: {"0": v, "1": v, …}}}
//
// Of embedded documents and arrays, control holds the minimum and maximum
// of each part. A bucket that is full is compressed: control.version is 2 and
// data is binary (see [Compress]); [Expand] undoes it.
//
// # Ways in and out
//
// A [Catalog] keeps track of open buckets; [Catalog.Insert] distributes a
// batch of measurements to buckets and writes each bucket once. [Unpacker]
// yields the measurements of a bucket as documents. [Filter] removes
// measurements from a bucket.
//
// # Questions
//
// [Options.NewPushdown] derives a filter on buckets from one on measurements;
// [Options.BucketIndex] translates an index on measurements to one on buckets,
// and [Options.TranslateUpdate] an update of the meta field to one of buckets.
//
// The package is for the rest of DuskDB: it may change with any version.
package timeseries
