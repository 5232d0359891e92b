package postgres

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// statement is an SQL statement that each connection prepares when it is opened.
type statement struct {
	name, sql string
	params    []uint32
	kind      tripKind
}

// Types of parameters.
const (
	typeBytes  = 17
	typeInt8   = 20
	typeInt4   = 23
	typeText   = 25
	typeTexts  = 1009
	typeBytess = 1001
	typeInt4s  = 1007
	typeInt8s  = 1016
)

// statements are all of them.
var statements []*statement

func stmt(sql string, params ...uint32) *statement {
	s := &statement{name: fmt.Sprintf("s%d", len(statements)), sql: sql, params: params}
	statements = append(statements, s)
	return s
}

// Rows are looked up by lateral queries with a limit, which the planner can only
// turn into one search of the primary key for each: a plan that is made once must
// not depend on how many keys there are.
//
// The key of an entry ends with the id of its record, and the key of a record is
// an r and the id.
var (
	begin       = stmt(`begin isolation level read committed read write`)
	beginReader = stmt(`begin isolation level repeatable read read only`)
	commit      = stmt(`commit`)
	rollback    = stmt(`rollback`)

	selectHead = stmt(`select ver, catalog, stamp, numbers from head`)
	lockHead   = stmt(`select ver, catalog, stamp, numbers from head for update`)
	writeHead  = stmt(`update head set ver = $1, catalog = $2, stamp = $3, numbers = $4`, typeInt8, typeInt8, typeInt8, typeInt8)

	// A state for one read is that of one statement.
	findOnce = stmt(`select h.ver, h.catalog, h.stamp, h.numbers, x.k, x.v from head h left join lateral (select e.k, (select r.v from kv r where r.c = $1 and r.k = '\x72'::bytea || substring(e.k from length(e.k) - 7)) as v from kv e where e.c = $1 and e.k >= $2 and e.k < $3 order by e.k limit 1) x on true where h.one = 1`, typeInt4, typeBytes, typeBytes)
	getOnce  = stmt(`select h.ver, h.catalog, h.stamp, h.numbers, (select v from kv where c = $1 and k = $2) from head h where h.one = 1`, typeInt4, typeBytes)

	selectKey   = stmt(`select v from kv where c = $1 and k = $2`, typeInt4, typeBytes)
	selectKeys  = stmt(`select u.i, x.v from unnest($1::int4[], $2::bytea[]) with ordinality u(c, k, i), lateral (select v from kv where kv.c = u.c and kv.k = u.k limit 1) x order by u.i`, typeInt4s, typeBytess)
	selectNewer = stmt(`select u.i, case when x.ver > u.ver then x.v end from unnest($1::int4[], $2::bytea[], $3::int8[]) with ordinality u(c, k, ver, i), lateral (select v, ver from kv where kv.c = u.c and kv.k = u.k limit 1) x order by u.i`, typeInt4s, typeBytess, typeInt8s)
	selectFirst = stmt(`select u.i, x.k, x.v from unnest($1::int4[], $2::bytea[], $3::bytea[]) with ordinality u(c, lo, hi, i), lateral (select k, v from kv where kv.c = u.c and kv.k >= u.lo and kv.k < u.hi order by kv.k limit 1) x order by u.i`, typeInt4s, typeBytess, typeBytess)
	selectLast  = stmt(`select u.i, x.k, x.v from unnest($1::int4[], $2::bytea[], $3::bytea[]) with ordinality u(c, lo, hi, i), lateral (select k, v from kv where kv.c = u.c and kv.k >= u.lo and kv.k < u.hi order by kv.k desc limit 1) x order by u.i`, typeInt4s, typeBytess, typeBytess)
	checkRange  = stmt(`select count(*), coalesce(max(ver), 0) from kv where c = $1 and k >= $2 and k < $3`, typeInt4, typeBytes, typeBytes)

	pageUp         = stmt(`select k, v from kv where c = $1 and k >= $2 and k < $3 order by k limit $4`, typeInt4, typeBytes, typeBytes, typeInt8)
	pageDown       = stmt(`select k, v from kv where c = $1 and k >= $2 and k < $3 order by k desc limit $4`, typeInt4, typeBytes, typeBytes, typeInt8)
	pageJoinedUp   = stmt(`select k, (select r.v from kv r where r.c = $1 and r.k = '\x72'::bytea || substring(e.k from length(e.k) - 7)) from (select k from kv where c = $1 and k >= $2 and k < $3 order by k limit $4) e`, typeInt4, typeBytes, typeBytes, typeInt8)
	pageJoinedDown = stmt(`select k, (select r.v from kv r where r.c = $1 and r.k = '\x72'::bytea || substring(e.k from length(e.k) - 7)) from (select k from kv where c = $1 and k >= $2 and k < $3 order by k desc limit $4) e`, typeInt4, typeBytes, typeBytes, typeInt8)

	selectStats   = stmt(`select num, ver, row from stats where num = any($1::int4[])`, typeInt4s)
	changedStats  = stmt(`select num, ver, row from stats where ver > $1 and exists (select 1 from head where ver > $1)`, typeInt8)
	selectCatalog = stmt(`select c.num, c.ver, case when c.ver > $1 then c.doc end, s.ver, s.row from catalog c join stats s on s.num = c.num`, typeInt8)

	insertKeys    = stmt(`insert into kv (c, k, v, ver) select u.c, u.k, u.v, $4 from unnest($1::int4[], $2::bytea[], $3::bytea[]) u(c, k, v)`, typeInt4s, typeBytess, typeBytess, typeInt8)
	writeKeys     = stmt(`insert into kv as t (c, k, v, ver) select u.c, u.k, u.v, $4 from unnest($1::int4[], $2::bytea[], $3::bytea[]) u(c, k, v) on conflict (c, k) do update set v = excluded.v, ver = excluded.ver`, typeInt4s, typeBytess, typeBytess, typeInt8)
	deleteKeys    = stmt(`delete from kv using unnest($1::int4[], $2::bytea[]) u(c, k) where kv.c = u.c and kv.k = u.k`, typeInt4s, typeBytess)
	deleteRange   = stmt(`delete from kv where c = $1 and k >= $2 and k < $3`, typeInt4, typeBytes, typeBytes)
	deleteAll     = stmt(`delete from kv where c = $1`, typeInt4)
	writeStats    = stmt(`insert into stats as t (num, ver, row) select u.num, $3, u.row from unnest($1::int4[], $2::bytea[]) u(num, row) on conflict (num) do update set ver = excluded.ver, row = excluded.row`, typeInt4s, typeBytess, typeInt8)
	writeCatalog  = stmt(`insert into catalog as t (num, ver, doc) select u.num, $3, u.doc from unnest($1::int4[], $2::bytea[]) u(num, doc) on conflict (num) do update set ver = excluded.ver, doc = excluded.doc`, typeInt4s, typeBytess, typeInt8)
	dropCatalog   = stmt(`delete from catalog where num = any($1::int4[])`, typeInt4s)
	selectSize    = stmt(`select pg_total_relation_size('kv') + pg_total_relation_size('catalog') + pg_total_relation_size('stats')`)
	renewServer   = stmt(`insert into server (id, address, seq, seen, until) values ($1, $2, -1, $3, now() + interval '10 seconds') on conflict (id) do update set until = excluded.until, seen = excluded.seen`, typeText, typeText, typeInt8)
	renewLeases   = stmt(`insert into lease as t (job, owner, until) select u.job, $1, now() + interval '8 seconds' from unnest($2::text[]) u(job) order by u.job on conflict (job) do update set owner = excluded.owner, until = excluded.until, since = case when t.owner = excluded.owner then t.since else now() end where t.owner = excluded.owner or t.until < now() returning job`, typeText, typeTexts)
	selectLiving  = stmt(`select id from server where until > now()`)
	countOthers   = stmt(`select count(*) from server where id <> $1 and until > now()`, typeText)
	countUnseen   = stmt(`select count(*) from server where id <> $1 and until > now() and seen < $2`, typeText, typeInt8)
	selectServers = stmt(`select id, address, (extract(epoch from since) * 1000000)::int8 from server where until > now() order by since, id`)
	selectLeases  = stmt(`select job, owner, (extract(epoch from since) * 1000000)::int8 from lease where until > now() order by job`)
	databaseTime  = stmt(`select (extract(epoch from clock_timestamp()) * 1000000)::int8`)
	noteSeen      = stmt(`update server set seen = $2 where id = $1`, typeText, typeInt8)
	forgetServers = stmt(`delete from server where until < now() - interval '1 hour'`)
	raiseHead     = stmt(`update head set ver = ver + 1 returning ver`)
	leaveJobs     = stmt(`delete from lease where owner = $1`, typeText)
	notifyOthers  = stmt(`select pg_notify($1, $2)`, typeText, typeText)
	joinServers   = stmt(`insert into server (id, address, seq, seen, until) values ($1, $2, 0, 0, now() + interval '10 seconds')`, typeText, typeText)
	leaveServers  = stmt(`delete from server where id = $1`, typeText)
	writeSeq      = stmt(`update server set seq = $2 where id = $1`, typeText, typeInt8)
	readSeq       = stmt(`select seq from server where id = $1`, typeText)

	// What a commit without the lock takes for granted: each of these divides by whether
	// it is so.
	moveHead   = stmt(`with counted as (update server set seq = $5 where id = $4) update head set ver = $2::int8 / (case when ver = $1 then 1 else 0 end), stamp = $3 where one = 1`, typeInt8, typeInt8, typeInt8, typeText, typeInt8)
	moveFree   = stmt(`with counted as (update server set seq = $5 where id = $4) update head set ver = $2::int8 / (case when ver = $1 and not exists (select 1 from claim where server < $4) and not exists (select 1 from claim where server > $4) then 1 else 0 end), stamp = $3 where one = 1`, typeInt8, typeInt8, typeInt8, typeText, typeInt8)
	moveStats  = stmt(`update stats set ver = $3::int8 / (case when ver = $2 then 1 else 0 end), row = $4 where num = $1`, typeInt4, typeInt8, typeInt8, typeBytes)
	moveTwo    = stmt(`update stats set ver = $4::int8 / (case when ver = case num when $1 then $2 else $6 end then 1 else 0 end), row = case num when $1 then $3 else $7 end where num in ($1, $5)`, typeInt4, typeInt8, typeBytes, typeInt8, typeInt4, typeInt8, typeBytes)
	surelyNone = stmt(`select 1 / (case when count(*) = 0 then 1 else 0 end) from unnest($1::int4[], $2::bytea[], $3::bytea[]) u(c, lo, hi), lateral (select 1 from kv where kv.c = u.c and kv.k >= u.lo and kv.k < u.hi limit 1) x`, typeInt4s, typeBytess, typeBytess)

	// A claim counts as long as its row exists. Those of a server that has not been
	// heard of for 8 seconds are removed, and it gets no further ones: lifetime less
	// margin. Rows are taken in the order of their keys, against deadlocks.
	takeClaims      = stmt(`insert into claim as t (c, k, server, txn) select u.c, u.k, $3, $4 from unnest($1::int4[], $2::bytea[]) u(c, k) where exists (select 1 from server where id = $3 and until > now() + interval '2 seconds') order by u.c, u.k on conflict (c, k) do update set txn = excluded.txn where t.server = excluded.server returning c, k`, typeInt4s, typeBytess, typeText, typeInt8)
	countSame       = stmt(`select count(*) from unnest($1::int4[], $2::bytea[]) u(c, k), lateral (select 1 from kv where kv.c = u.c and kv.k = u.k and kv.ver <= $3 limit 1) x`, typeInt4s, typeBytess, typeInt8)
	countNewer      = stmt(`select count(*) from unnest($1::int4[], $2::bytea[], $3::bytea[]) u(c, lo, hi), lateral (select 1 from kv where kv.c = u.c and kv.k >= u.lo and kv.k < u.hi and kv.ver > $4 limit 1) x`, typeInt4s, typeBytess, typeBytess, typeInt8)
	claimedBy       = stmt(`select u.i from unnest($1::int4[], $2::bytea[], $3::bytea[]) with ordinality u(c, lo, hi, i), lateral (select 1 from claim where claim.c = u.c and claim.k >= u.lo and claim.k < u.hi and claim.server <> $4 limit 1) x`, typeInt4s, typeBytess, typeBytess, typeText)
	countRivals     = stmt(`select count(*), count(*) > 0 and (exists (select 1 from claim where server < $1) or exists (select 1 from claim where server > $1)) from server where id <> $1 and until > now()`, typeText)
	countClaims     = stmt(`select count(*) from claim where server = $1 and txn = $2`, typeText, typeInt8)
	dropClaims      = stmt(`delete from claim where server = $1 and txn = any($2::int8[])`, typeText, typeInt8s)
	selectClaimants = stmt(`select distinct txn from claim where server = $1`, typeText)
	leaveClaims     = stmt(`delete from claim where server = $1`, typeText)
	deadClaims      = stmt(`with dead as (select t.c, t.k from server s join claim t on t.server = s.id where s.until < now() + interval '2 seconds' for update of t skip locked), gone as (delete from claim using dead where claim.c = dead.c and claim.k = dead.k returning 1) select count(*) from gone`)
	strayClaims     = stmt(`delete from claim where not exists (select 1 from server where id = claim.server)`)
	dropStats       = stmt(`delete from stats where num = any($1::int4[])`, typeInt4s)

	addNumber    = stmt(`insert into snapshot (number, server, ver, name) values ($1, $2, $3, $4) on conflict do nothing returning number`, typeInt8, typeText, typeInt8, typeText)
	findNumber   = stmt(`select ver, name from snapshot where number = $1`, typeInt8)
	dropNumber   = stmt(`delete from snapshot where number = $1 and server = $2`, typeInt8, typeText)
	leaveNumbers = stmt(`delete from snapshot where server = $1`, typeText)
	strayNumbers = stmt(`delete from snapshot where not exists (select 1 from server where id = snapshot.server and until > now())`)
)

// fewRows is up to how many rows are written by a statement with a parameter for each value:
// the database takes arrays apart for longer than it then writes so few.
const fewRows = 4

// insertFew and writeFew are insertKeys and writeKeys for n+1 rows. The version comes first.
var insertFew, writeFew = few(``), few(` on conflict (c, k) do update set v = excluded.v, ver = excluded.ver`)

func few(conflict string) (list [fewRows]*statement) {
	sql, params := `insert into kv as t (c, k, v, ver) values `, []uint32{typeInt8}
	for n := range list {
		if n > 0 {
			sql += ", "
		}
		sql += fmt.Sprintf("($%d, $%d, $%d, $1)", 3*n+2, 3*n+3, 3*n+4)
		params = append(params, typeInt4, typeBytes, typeBytes)
		list[n] = stmt(sql+conflict, slices.Clone(params)...)
	}
	return list
}

// Parameters and columns are in the binary format.

func int8Value(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func int4Value(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func int64Of(b []byte) int64 {
	switch len(b) {
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	}
	return 0
}

// array builds the value of an array.
type array struct {
	b []byte
	n uint32
}

const arrayHeader = 20

func newArray(of uint32, n, bytes int) array {
	b := make([]byte, 0, arrayHeader+bytes+4*n)
	b = binary.BigEndian.AppendUint32(b, 1)  // dimensions
	b = binary.BigEndian.AppendUint32(b, 0)  // no nulls
	b = binary.BigEndian.AppendUint32(b, of) // the type of the elements
	b = binary.BigEndian.AppendUint32(b, 0)  // their number
	b = binary.BigEndian.AppendUint32(b, 1)  // the first has this subscript
	return array{b: b}
}

func (a *array) add(v []byte) {
	a.n++
	a.b = append(binary.BigEndian.AppendUint32(a.b, uint32(len(v))), v...)
}

func (a *array) addInt4(n uint32) {
	a.n++
	a.b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(a.b, 4), n)
}

func (a *array) addInt8(n int64) {
	a.n++
	a.b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(a.b, 8), uint64(n))
}

func (a *array) value() []byte {
	if a.n == 0 {
		return append(a.b[:0], 0, 0, 0, 0, 0, 0, 0, 0, a.b[8], a.b[9], a.b[10], a.b[11])
	}
	binary.BigEndian.PutUint32(a.b[12:], a.n)
	return a.b
}
