// Package catalog describes collections. [Meta] is derived once from the stored
// options and indexes whenever these change: an ordinary collection, a view, a time
// series or its buckets, capped or clustered, with a validator, an expiry policy, a
// queue. It also holds the rules of names (databases, collections)
// and what index listings show.
//
// A storage engine is opened with an [Indexer], so that the engine keeps a Meta
// with each collection without knowing what it means.
//
// Documents that have expired under document TTL are hidden by [Meta.Visible] and
// shown with their _ts by [Meta.Shown] (semantics.md §7).
package catalog
