package kernel

import (
	"context"
	"fmt"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// Settings are the settings of administrators for all clients: default concerns, cluster
// parameters, blocked writes, index filters. Those that mongod stores in the database
// config are stored there, under the same names. Like mongod, the server notices when
// these documents change.
type Settings struct {
	Block   WriteBlock // setUserWriteBlockMode
	Filters IndexFilters

	concerns *serverdocs.Cache[DefaultConcerns]
	cluster  *serverdocs.Cache[ClusterSettings]
	features *serverdocs.Cache[string] // stored feature compatibility version
}

// The collections of the settings.
var (
	ConcernNamespace = storage.Namespace{DB: "config", Coll: "settings"}
	ClusterNamespace = storage.Namespace{DB: "config", Coll: "clusterParameters"}
)

// The _ids of the documents that the server itself heeds, as in mongod.
const (
	ConcernID        = "ReadWriteConcernDefaults"
	QuerySettingsID  = "querySettings"
	DefaultMaxTime   = "defaultMaxTimeMS"
	StreamOptions    = "changeStreamOptions"
	maxTimeReads     = "readOperations"
	streamImages     = "preAndPostImages"
	imagesExpireTime = "expireAfterSeconds"
)

// DefaultConcerns are what setDefaultRWConcern has set.
type DefaultConcerns struct {
	Doc   value.Doc // the stored document; nil: nothing was set
	Write value.Doc // its defaultWriteConcern; nil: none
}

// ClusterSettings are the cluster parameters, and values derived from them.
type ClusterSettings struct {
	Parameters   map[string]value.Doc // the values that were set, by parameter
	ReadMillis   int64                // default maxTimeMS of reads; 0: no limit
	ImageSeconds int64                // how long pre-images are kept; 0: as long as the log
	Queries      QuerySettings
}

// NewSettings makes the settings of a server.
func NewSettings() *Settings {
	return &Settings{
		concerns: serverdocs.NewCache(ConcernNamespace, readConcerns),
		cluster:  serverdocs.NewCache(ClusterNamespace, readClusterSettings),
		features: serverdocs.NewCache(VersionNamespace, readFeatureVersion),
	}
}

func readConcerns(docs []value.Doc) *DefaultConcerns {
	for _, d := range docs {
		if d.Lookup("_id").Str() == ConcernID {
			return &DefaultConcerns{Doc: d, Write: d.Lookup("defaultWriteConcern").Doc()}
		}
	}
	return &DefaultConcerns{}
}

func readClusterSettings(docs []value.Doc) *ClusterSettings {
	s := &ClusterSettings{Parameters: map[string]value.Doc{}}
	for _, d := range docs {
		switch id := d.Lookup("_id").Str(); id {
		case QuerySettingsID:
			s.Queries = ReadQuerySettings(d)
		default:
			s.Parameters[id] = d
		}
	}
	s.ReadMillis = s.Parameters[DefaultMaxTime].Lookup(maxTimeReads).SafeInt64()
	s.ImageSeconds = s.Parameters[StreamOptions].Lookup(streamImages).Doc().Lookup(imagesExpireTime).SafeInt64() // 0 for "off"
	return s
}

// DefaultConcerns returns the present default read and write concerns. It returns an error
// if it cannot read them.
func (s *Service) DefaultConcerns(ctx context.Context) (*DefaultConcerns, error) {
	return read(ctx, s, ConcernNamespace, s.Settings.concerns)
}

// ClusterSettings returns the present cluster parameters. It returns an error if it cannot
// read them.
func (s *Service) ClusterSettings(ctx context.Context) (*ClusterSettings, error) {
	return read(ctx, s, ClusterNamespace, s.Settings.cluster)
}

func read[T any](ctx context.Context, s *Service, ns storage.Namespace, c *serverdocs.Cache[T]) (*T, error) {
	of, err := c.Get(ctx, s.Engine)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ns, err)
	}
	return of, nil
}

// DefaultConcerns returns the present default read and write concerns. Reading them takes no
// longer than the command may.
func (c *Call) DefaultConcerns() (*DefaultConcerns, error) {
	return inTime(c, ConcernNamespace, c.Svc.Settings.concerns)
}

// ClusterSettings returns the present cluster parameters. Reading them takes no longer than
// the command may.
func (c *Call) ClusterSettings() (*ClusterSettings, error) {
	return inTime(c, ClusterNamespace, c.Svc.Settings.cluster)
}

// inTime reads settings, if they have changed, for as long as the command may run. Its own
// limit need not have begun.
func inTime[T any](c *Call, ns storage.Namespace, from *serverdocs.Cache[T]) (*T, error) {
	if of, err := from.Held(c.Svc.Engine); of != nil || err != nil {
		return of, err
	}
	ctx := c.Ctx
	if _, limited := ctx.Deadline(); !limited && c.Generic.MaxTime > 0 {
		var stop func()
		ctx, stop = context.WithTimeoutCause(ctx, c.Generic.MaxTime, errMaxTime)
		defer stop()
	}
	of, err := read(ctx, c.Svc, ns, from)
	if err != nil && ctx.Err() != nil {
		return nil, mongoerr.From(context.Cause(ctx))
	}
	return of, err
}

// PutSetting stores a setting, in the place of the one with the same _id.
func (c *Call) PutSetting(ns storage.Namespace, d value.Doc) error {
	return c.ChangeSetting(ns, d.Lookup("_id"), func(value.Doc) value.Doc { return d })
}

// ChangeSetting replaces a setting by the document that change returns. change gets the
// old setting, nil if it was not set, and may be called more than once.
func (c *Call) ChangeSetting(ns storage.Namespace, id value.Value, change func(old value.Doc) value.Doc) error {
	err := c.Update(func(tx storage.Tx) error {
		e, err := serverdocs.Find(tx, ns, id)
		if err != nil {
			return err
		}
		d := change(e.Doc)
		if len(d) > MaxDocumentBytes {
			return mongoerr.Newf(17419, "Resulting document after update is larger than %d", MaxDocumentBytes)
		}
		if err := c.Svc.Memory.Admit(len(d) - len(e.Doc)); err != nil {
			return err
		}
		return e.Put(d, c.Now)
	})
	return Translate(ns, err)
}

// WritesOut reports whether a pipeline ends in $out or $merge.
func WritesOut(pipeline value.Doc) bool {
	for stage := range pipeline.Values() {
		if name, _ := stage.Doc().First(); name == "$out" || name == "$merge" {
			return true
		}
	}
	return false
}

// UserDatabase reports whether a database belongs to users: all do but admin, config and
// local.
func UserDatabase(db string) bool { return db != "admin" && db != "config" && db != "local" }
