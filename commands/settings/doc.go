// Package settings has the commands that set how the server behaves: parameters,
// cluster parameters, default concerns, filters of the plan cache, query settings.
package settings
