package kernel

// NoTime is for the tests outside of the package.
const NoTime = noTime
