package kernel

// BuildInfoMode is the parameter that says what buildInfo tells clients that have not logged in.
const BuildInfoMode = "buildInfoAuthMode"

// The values of BuildInfoMode.
const (
	NeedsLogin      = "requiresAuth"         // nothing
	VersionOnly     = "versionOnlyIfPreAuth" // the version, for drivers that cannot do without
	OpenToStrangers = "allowedPreAuth"       // all
)
