package kernel

// Names for the external tests.
const NoTime = noTime
