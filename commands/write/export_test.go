package write

// What tests of the package need besides.
var (
	ModifyFirst = modifyFirst
	ModifyMany  = modifyMany
)
