package write

// Names for the external tests.
var (
	ModifyFirst = modifyFirst
	ModifyMany  = modifyMany
)
