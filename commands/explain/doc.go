// Package explain shows how a query would run, or has run: the plans that were
// considered, the stages with their counters, and the pipeline behind them.
package explain
