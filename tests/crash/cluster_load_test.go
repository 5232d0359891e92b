//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// bank is what clients do with a cluster while things fail: transfers between accounts
// in transactions, counters in retryable writes, messages, change streams. Each
// operation leaves its own mark, so that in the end it can be said of each whether it
// was lost, and whether it was applied twice.
type bank struct {
	*cluster
	client *mongo.Client
	db     *mongo.Database
	ctx    context.Context // ends when the load stops
	stop   context.CancelFunc
	wg     sync.WaitGroup
	rest   atomic.Int64 // between the operations of a client
	waits  waits
	strict atomic.Bool // no operation that drivers repeat may fail

	done     [kinds]atomic.Int64 // operations that were acknowledged
	unknown  atomic.Int64        // operations that failed although they may have happened
	reported atomic.Bool
	expected atomic.Int64 // code of an error that clients may get at present
	met      met          // what clients have met of late

	mu      sync.Mutex
	acked   map[string]time.Time // marks of what was acknowledged
	answers map[string]bool      // values of the counters, to see none twice
	queue   deliveries
	streams []*watcher
	lists   []*listClient
	begun   atomic.Int64 // transactions on lists
}

// The kinds of operations.
const (
	transfers = iota
	sums
	increments
	sends
	receipts
	kinds
)

var kindNames = [kinds]string{"transfers", "sums", "increments", "messages sent", "messages completed"}

const (
	accounts       = 8
	initialBalance = 1000
	counters       = 3
)

// newBank prepares the data.
func newBank(c *cluster, opts ...*options.ClientOptions) *bank {
	c.Helper()
	l := &bank{cluster: c, client: c.client(opts...), acked: map[string]time.Time{}, answers: map[string]bool{}}
	l.db = l.client.Database("load")
	l.calm(false)
	l.queue.until = map[int64][]lockTime{}
	l.queue.completed = map[string]int{}
	l.ctx, l.stop = context.WithCancel(context.Background())
	var docs []any
	for i := range accounts {
		docs = append(docs, bson.M{"_id": i, "balance": initialBalance})
	}
	l.insert("accounts", docs...)
	docs = nil
	for i := range counters {
		docs = append(docs, bson.M{"_id": i, "n": 0, "ops": bson.A{}})
	}
	l.insert("counters", docs...)
	if err := l.db.CreateCollection(l.ctx, "ledger"); err != nil {
		c.Fatal(err)
	}
	l.createQueue()
	return l
}

func (l *bank) insert(coll string, docs ...any) {
	l.Helper()
	if _, err := l.db.Collection(coll).InsertMany(l.ctx, docs); err != nil {
		l.Fatal(err)
	}
}

// run starts the clients.
func (l *bank) run() {
	l.Helper()
	for i := range 2 {
		l.streams = append(l.streams, l.follow(i))
	}
	for i := range 3 {
		l.repeat(i, l.transfer)
	}
	l.repeat(3, l.sum)
	for i := range 2 {
		l.repeat(4+i, l.increment)
	}
	l.repeat(6, l.send)
	for i := range 2 {
		l.repeat(7+i, l.receive)
	}
	for i := range 3 {
		l.repeatLists(i)
	}
}

// calm lets the clients do little while a test waits for something. In a long run they
// never rest.
func (l *bank) calm(yes bool) {
	switch {
	case long():
		l.rest.Store(int64(2 * time.Millisecond))
	case yes:
		l.rest.Store(int64(time.Second))
	default:
		l.rest.Store(int64(120 * time.Millisecond))
	}
}

// repeat runs an operation until the load stops.
func (l *bank) repeat(client int, op func(client, n int, rnd *rand.Rand) error) {
	rnd := rand.New(rand.NewPCG(uint64(client), uint64(time.Now().UnixNano())))
	l.wg.Go(func() {
		for n := 0; l.ctx.Err() == nil; n++ {
			begun := time.Now()
			err := op(client, n, rnd)
			if err == nil {
				l.waits.success(client)
			} else if l.ctx.Err() == nil {
				l.unknown.Add(1)
				l.report(err)
			}
			l.met.note(time.Since(begun), err)
			select {
			case <-time.After(time.Duration(l.rest.Load())):
			case <-l.ctx.Done():
			}
		}
	})
}

// report fails the test for an error that clients must not see.
func (l *bank) report(err error) {
	var server mongo.ServerError
	if code := int(l.expected.Load()); code != 0 && errors.As(err, &server) && server.HasErrorCode(code) {
		return
	}
	refused := l.strict.Load() && !errors.As(err, new(unrepeated)) && !poolCleared(err)
	if (refused || !passing(err)) && !l.reported.Swap(true) {
		l.Errorf("a client got an error that it need not expect: %v", err)
	}
}

// unrepeated is the error of a command that drivers do not repeat.
type unrepeated struct{ error }

func (u unrepeated) Unwrap() error { return u.error }

func (l *bank) acknowledge(kind int, mark string) {
	l.mu.Lock()
	l.acked[mark] = time.Now()
	l.mu.Unlock()
	l.done[kind].Add(1)
}

// transfer moves money in a transaction, which writes the transfer down.
func (l *bank) transfer(client, n int, rnd *rand.Rand) error {
	from := rnd.IntN(accounts)
	to := (from + 1 + rnd.IntN(accounts-1)) % accounts
	amount := 1 + rnd.IntN(10)
	mark := fmt.Sprintf("t%d-%d", client, n)
	err := l.within(func(ctx context.Context) error {
		if _, err := l.db.Collection("ledger").InsertOne(ctx, bson.M{"_id": mark, "from": from, "to": to, "amount": amount}); err != nil {
			return err
		}
		for account, change := range map[int]int{from: -amount, to: amount} {
			r, err := l.db.Collection("accounts").UpdateByID(ctx, account, bson.M{"$inc": bson.M{"balance": change}})
			if err != nil {
				return err
			}
			if r.ModifiedCount != 1 {
				return fmt.Errorf("the update of account %d changed %d documents", account, r.ModifiedCount)
			}
		}
		return nil
	})
	if err == nil {
		l.acknowledge(transfers, mark)
	}
	return err
}

// within runs a transaction until it is committed.
func (l *bank) within(fn func(context.Context) error) error {
	ctx, end := context.WithTimeout(l.ctx, patience)
	defer end()
	s, err := l.client.StartSession()
	if err != nil {
		return err
	}
	defer s.EndSession(context.Background())
	_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, fn(ctx) })
	return err
}

// sum reads all accounts in a transaction, in several steps.
func (l *bank) sum(int, int, *rand.Rand) error {
	var total int64
	err := l.within(func(ctx context.Context) error {
		total = 0
		for i := range accounts {
			var d struct{ Balance int64 }
			if err := l.db.Collection("accounts").FindOne(ctx, bson.M{"_id": i}).Decode(&d); err != nil {
				return err
			}
			total += d.Balance
		}
		return nil
	})
	if err != nil {
		return err
	}
	if total != accounts*initialBalance {
		l.Errorf("a transaction saw a sum of %d, want %d", total, accounts*initialBalance)
	}
	l.done[sums].Add(1)
	return nil
}

// increment counts in a retryable write, whose answer no other one may have got.
func (l *bank) increment(client, n int, rnd *rand.Rand) error {
	mark, counter := fmt.Sprintf("i%d-%d", client, n), rnd.IntN(counters)
	var after struct{ N int64 }
	err := l.db.Collection("counters").FindOneAndUpdate(l.ctx, bson.M{"_id": counter},
		bson.M{"$inc": bson.M{"n": 1}, "$push": bson.M{"ops": mark}},
		options.FindOneAndUpdate().SetReturnDocument(options.After).SetProjection(bson.M{"n": 1})).Decode(&after)
	if err != nil {
		return err
	}
	answer := fmt.Sprint(counter, "=", after.N)
	l.mu.Lock()
	twice := l.answers[answer]
	l.answers[answer] = true
	l.mu.Unlock()
	if twice {
		l.Errorf("two increments got the answer %s", answer)
	}
	l.acknowledge(increments, mark)
	return nil
}

// progress waits until each kind of operation has succeeded again, and logs how long
// that took. Nothing but the passing of a fault may be needed for that.
func (l *bank) progress(after string) time.Duration {
	l.Helper()
	var before [kinds]int64
	for i := range before {
		before[i] = l.done[i].Load()
	}
	defer func() {
		if l.Failed() {
			l.tell(before)
		}
	}()
	took := eventually(l, "clients go on after "+after, func() bool {
		for i := range before {
			if l.done[i].Load() < before[i]+2 {
				return false
			}
		}
		return true
	})
	l.Logf("%s: everybody went on after %v", after, took.Round(10*time.Millisecond))
	return took
}

// tell logs who has not gone on, and what the servers say.
func (l *bank) tell(before [kinds]int64) {
	l.Helper()
	for i := range before {
		l.Logf("%d more %s", l.done[i].Load()-before[i], kindNames[i])
	}
	for i, s := range l.servers {
		l.Logf("server %d:\n%s", i, s.Stderr.Tail(4000))
	}
}

// end stops the clients and checks what they have done.
func (l *bank) end() {
	l.Helper()
	l.stop()
	l.wg.Wait()
	l.ctx = context.Background()
	l.checkBank()
	l.checkCounters()
	l.checkQueue()
	l.checkStreams()
	l.checkLists()
	text := ""
	for i := range kinds {
		text += fmt.Sprintf("%d %s, ", l.done[i].Load(), kindNames[i])
	}
	l.Logf("%s%d of unknown outcome", text, l.unknown.Load())
}

// checkBank compares balances with the transfers written down, and those with the
// acknowledged ones.
func (l *bank) checkBank() {
	l.Helper()
	want := map[int64]int64{}
	for i := range int64(accounts) {
		want[i] = initialBalance
	}
	written := map[string]bool{}
	for _, d := range l.all("ledger") {
		written[d["_id"].(string)] = true
		want[number(d["from"])] -= number(d["amount"])
		want[number(d["to"])] += number(d["amount"])
	}
	for _, d := range l.all("accounts") {
		if got := number(d["balance"]); got != want[number(d["_id"])] {
			l.Errorf("account %v has %d, and by the ledger %d", d["_id"], got, want[number(d["_id"])])
		}
	}
	l.wantAcknowledged('t', written)
}

// wantAcknowledged compares what was found with what was acknowledged.
func (l *bank) wantAcknowledged(kind byte, found map[string]bool) {
	l.Helper()
	for mark := range l.acked {
		if mark[0] == kind && !found[mark] {
			l.Errorf("%s was acknowledged and is lost", mark)
		}
	}
}

func (l *bank) checkCounters() {
	l.Helper()
	found := map[string]bool{}
	for _, d := range l.all("counters") {
		ops := d["ops"].(bson.A)
		if n := number(d["n"]); int(n) != len(ops) {
			l.Errorf("counter %v is %d after %d increments", d["_id"], n, len(ops))
		}
		for _, op := range ops {
			if found[op.(string)] {
				l.Errorf("%s was applied twice", op)
			}
			found[op.(string)] = true
		}
	}
	l.wantAcknowledged('i', found)
}

// all reads a collection.
func (l *bank) all(coll string) (docs []bson.M) {
	l.Helper()
	cursor, err := l.db.Collection(coll).Find(l.ctx, bson.M{})
	if err == nil {
		err = cursor.All(l.ctx, &docs)
	}
	if err != nil {
		l.Fatal(err)
	}
	return docs
}

// percentile of durations, which are sorted.
func percentile(list []time.Duration, p int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(len(list)*p/100, len(list)-1)].Round(100 * time.Microsecond)
}
