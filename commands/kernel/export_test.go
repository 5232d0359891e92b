package kernel

// What tests of the package need besides.
const NoTime = noTime
