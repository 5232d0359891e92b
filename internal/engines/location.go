package engines

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Location is where an engine has its data.
type Location struct {
	Engine string
	Path   string // path of a directory
	URI    string // address of a database
}

// schemes are those of the URIs of a database.
var schemes = []string{"postgres://", "postgresql://"}

// databaseEngine is the engine whose data are in the database of such a URI.
const databaseEngine = "postgres"

// ParseLocation reads ENGINE:DIR, or the URI of a database.
func ParseLocation(text string) (Location, error) {
	if slices.ContainsFunc(schemes, func(s string) bool { return strings.HasPrefix(text, s) }) {
		_, err := named(databaseEngine)
		return Location{Engine: databaseEngine, URI: text}, err
	}
	name, path, ok := strings.Cut(text, ":")
	if !ok || path == "" || !slices.Contains(localNames(), name) {
		if strings.Contains(text, "@") {
			text = name + ":…" // it may have a password
		}
		return Location{}, fmt.Errorf("%q is no place of data: it must be %s", text, strings.Join(forms(), " or "))
	}
	if path == Memory {
		return Location{}, fmt.Errorf("%q: data in memory cannot be copied, they end with the process", text)
	}
	return Location{Engine: name, Path: path}, nil
}

// forms are what ParseLocation reads.
func forms() (list []string) {
	for _, name := range Names() {
		if Remote(name) {
			list = append(list, schemes[0]+"user:password@host/database")
		} else {
			list = append(list, name+":DIR")
		}
	}
	return list
}

// localNames are the names of the engines that have their data in a directory.
func localNames() []string {
	return slices.DeleteFunc(Names(), Remote)
}

// String returns ENGINE:DIR, or the URI of a database without user and password.
func (l Location) String() string {
	if l.URI == "" {
		return l.Engine + ":" + l.Path
	}
	u, err := url.Parse(l.URI)
	if err != nil {
		return l.Engine
	}
	short := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if schema := u.Query().Get("schema"); schema != "" {
		short.RawQuery = url.Values{"schema": {schema}}.Encode()
	}
	return short.String()
}
