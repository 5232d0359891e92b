package applyops

// MaxDepth limits the nesting of applyOps within applyOps.
const MaxDepth = maxDepth
