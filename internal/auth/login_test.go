package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/xdg-go/scram"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

var here = Peer{Remote: "10.0.0.7:5000", Local: "10.0.0.1:27017"}

// login runs a whole conversation.
func (f *fixture) login(peer Peer, n Name, pwd, mechanism string, skip bool) (*User, error) {
	v, err := f.Begin(peer, n.DB, mechanism, skip)
	if err != nil {
		return nil, err
	}
	gen, secret := scram.SHA256, pwd
	if mechanism == SHA1 {
		gen, secret = scram.SHA1, PasswordDigest(n.Name, pwd)
	}
	client, err := gen.NewClientUnprepped(n.Name, secret, "")
	if err != nil {
		return nil, err
	}
	talk := client.NewConversation()
	msg, _ := talk.Step("")
	for i := 0; ; i++ {
		reply, done, err := v.Step(context.Background(), []byte(msg))
		if err != nil {
			return nil, err
		}
		if i == 1 {
			if _, err := talk.Step(string(reply)); err != nil || !talk.Valid() {
				return nil, fmt.Errorf("the server did not prove itself: %w", err)
			}
			msg = ""
		}
		if done {
			if (i == 1) != skip {
				return nil, fmt.Errorf("done after step %d", i)
			}
			return v.User(), nil
		}
		if i == 1 {
			continue
		}
		if msg, err = talk.Step(string(reply)); err != nil {
			return nil, err
		}
	}
}

func TestLogin(t *testing.T) {
	f := newFixture(t)
	ann := at("ann", "shop")
	f.user(ann, "päss", at("read", "shop"))
	for _, mechanism := range []string{SHA1, SHA256} {
		u, err := f.login(here, ann, "päss", mechanism, false)
		if err != nil || u.Name != ann || !u.May(Namespace("shop", "x"), MustAction("find")) {
			t.Errorf("%s: %v, %v", mechanism, u, err)
		}
		for _, bad := range []struct {
			n   Name
			pwd string
		}{{ann, "x"}, {at("bob", "shop"), "päss"}, {at("ann", "other"), "päss"}} {
			if u, err := f.login(here, bad.n, bad.pwd, mechanism, true); !errors.Is(err, error(ErrFailed)) || u != nil {
				t.Errorf("%s as %v: %v, %v", mechanism, bad, u, err)
			}
			f.throttle.by = map[guess]*failures{}
		}
	}
	_, err := f.Begin(here, "shop", "PLAIN", true)
	wantErr(t, err, 334, "Received authentication for mechanism PLAIN which is unknown or not enabled")
	f.mechanisms = []string{SHA256}
	_, err = f.Begin(here, "shop", SHA1, true)
	wantErr(t, err, 334, "not enabled")
}

// TestKnownCredentials logs in with the credentials that RFC 7677 gives for
// the password "pencil".
func TestKnownCredentials(t *testing.T) {
	salt, _ := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	c, err := store(mechanismOf(SHA256), "pencil", salt, 4096)
	if err != nil {
		t.Fatal(err)
	}
	stored, server := base64.StdEncoding.EncodeToString(c.StoredKey), base64.StdEncoding.EncodeToString(c.ServerKey)
	if stored != "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=" || server != "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=" {
		t.Errorf("storedKey %s, serverKey %s", stored, server)
	}
	if got := PasswordDigest("user", "pencil"); got != "1c33006ec1ffd90f9cadcbcc0e118200" {
		t.Errorf("digest %s", got)
	}
}

func TestUnknownUsersLookLikeOthers(t *testing.T) {
	f := newFixture(t)
	f.user(at("ann", "shop"), "p")
	first := func(name string) string {
		v, _ := f.Begin(here, "shop", SHA256, true)
		reply, _, err := v.Step(context.Background(), []byte("n,,n="+name+",r=abc"))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(reply), ",s=")
		return rest
	}
	again := func(name string) bool { one, two := first(name), first(name); return one == two }
	if !again("bob") || first("bob") == first("eve") || !again("ann") {
		t.Error("salts of users differ from those of strangers")
	}
	if len(first("bob")) != len(first("ann")) {
		t.Error("the first replies differ in form")
	}
	known, _ := f.SupportedMechanisms(context.Background(), at("ann", "shop"))
	unknown, _ := f.SupportedMechanisms(context.Background(), at("bob", "shop"))
	if fmt.Sprint(known) != "[SCRAM-SHA-256 SCRAM-SHA-1]" || fmt.Sprint(unknown) != fmt.Sprint(known) {
		t.Errorf("%v, %v", known, unknown)
	}
}

func TestConversationsEnd(t *testing.T) {
	f := newFixture(t)
	f.user(at("ann", "shop"), "p")
	for _, steps := range [][]string{
		{"garbage"}, {""}, {"n,,n=ann,r=abc", "garbage"}, {"n,,n=ann,r=abc", ""}, {"y,,n=ann,r=abc", "c=biws,r=abc,p=AAAA"},
		{"p=tls-unique,,n=ann,r=abc"}, {strings.Repeat("n", maxPayload+1)}, {"n,,n=ann,r=abc", "c=biws,r=abc,p=AAAA", ""},
	} {
		v, _ := f.Begin(here, "shop", SHA256, false)
		var err error
		for _, s := range steps {
			_, _, err = v.Step(context.Background(), []byte(s))
		}
		if !errors.Is(err, error(ErrFailed)) || v.User() != nil {
			t.Errorf("%q: %v", steps, err)
		}
		if _, _, err := v.Step(context.Background(), nil); !errors.Is(err, error(ErrFailed)) || v.User() != nil {
			t.Errorf("%q: goes on after its end", steps)
		}
		f.throttle.by = map[guess]*failures{}
	}
}

func FuzzSCRAM(f *testing.F) {
	fx := newFixture(f)
	fx.user(at("ann", "shop"), "p")
	f.Add("n,,n=ann,r=abc", "c=biws,r=abc,p=AAAA", true)
	f.Add("y,a=x,n=a=2Cb=3D,r=abc", "c=eSws,r=abc,p=", false)
	f.Fuzz(func(t *testing.T, first, second string, sha1 bool) {
		mechanism := SHA256
		if sha1 {
			mechanism = SHA1
		}
		v, err := fx.Begin(Peer{}, "shop", mechanism, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{first, second, second} {
			if _, done, _ := v.Step(context.Background(), []byte(s)); done || v.User() != nil {
				t.Fatalf("logged in with %q, %q", first, second)
			}
		}
		fx.throttle.by = map[guess]*failures{}
	})
}

func TestRestrictions(t *testing.T) {
	f := newFixture(t)
	login := func(restrictions string, peer Peer) bool {
		d, err := f.PrepareUser(&NewUser{Name: at("ann", "shop"), Password: &Password{Text: "p"}, Restrictions: value.MustJSON(`{"r": ` + restrictions + `}`).Lookup("r").Doc()})
		if err != nil {
			t.Fatal(err)
		}
		f.must(func(c *Catalog) error { return c.put(usersNS, d) })
		_, err = f.login(peer, at("ann", "shop"), "p", SHA256, true)
		return err == nil
	}
	for _, tc := range []struct {
		restrictions string
		ok           bool
	}{
		{`[]`, true}, {`[{"clientSource": ["10.0.0.0/8"]}]`, true}, {`[{"clientSource": "10.0.0.7"}]`, true},
		{`[{"clientSource": ["10.0.0.8", "192.168.0.0/16"]}]`, false}, {`[{"clientSource": ["10.0.0.7"], "serverAddress": ["10.0.0.2"]}]`, false},
		{`[{"clientSource": ["10.0.0.8"]}, {"serverAddress": ["10.0.0.1"]}]`, true}, {`[{"clientSource": ["::1"]}]`, false},
	} {
		if got := login(tc.restrictions, here); got != tc.ok {
			t.Errorf("%s: %t", tc.restrictions, got)
		}
	}
	if login(`[{"clientSource": ["10.0.0.0/8"]}]`, Peer{Remote: "@"}) {
		t.Error("a Unix socket has an address")
	}
	for text, code := range map[string]mongoerr.Code{`[1]`: 12, `[{}]`: 2, `[{"x": 1}]`: 40415, `[{"clientSource": ["10.0.0"]}]`: 2, `[{"clientSource": [1]}]`: 14} {
		err := CheckRestrictions(value.MustJSON(`{"r": ` + text + `}`).Lookup("r").Doc())
		wantErr(t, err, code, "")
	}
}

func TestX509Login(t *testing.T) {
	f := newFixture(t)
	const subject = "CN=client,O=Dusk"
	f.user(at(subject, External), "", at("read", "shop"))
	if u, err := f.LoginX509(context.Background(), here, subject); err != nil || u.Name.Name != subject {
		t.Errorf("%v, %v", u, err)
	}
	_, err := f.LoginX509(context.Background(), here, "CN=other")
	wantErr(t, err, 18, "Authentication failed.")
	f.mechanisms = []string{SHA256}
	_, err = f.LoginX509(context.Background(), here, subject)
	wantErr(t, err, 334, "MONGODB-X509")
}

// TestGuessingIsSlow fails logins until the replies are delayed.
func TestGuessingIsSlow(t *testing.T) {
	f := newFixture(t)
	ann := at("ann", "shop")
	held := func(remote string, n Name) time.Duration { return f.throttle.count(guessOf(remote, n), nil) }
	for range freeFailures {
		if d := held(here.Remote, ann); d != 0 {
			t.Fatalf("held back by %v too early", d)
		}
	}
	for i, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		if d := held("10.0.0.7:6000", ann); d != want*time.Millisecond { // the port does not matter
			t.Errorf("failure %d is held back by %v", i, d)
		}
	}
	for _, other := range []struct {
		remote string
		n      Name
	}{{"10.0.0.8:1", ann}, {here.Remote, at("bob", "shop")}, {here.Remote, at("ann", "other")}} {
		if d := held(other.remote, other.n); d != 0 {
			t.Errorf("%v is held back by %v", other, d)
		}
	}
	_ = f.clock.Advance(forgetAfter + time.Minute)
	if d := held(here.Remote, ann); d != 0 {
		t.Errorf("not forgotten: %v", d)
	}
	for i := range maxGuessed + 10 {
		held(fmt.Sprintf("10.%d.%d.%d:1", i>>16&255, i>>8&255, i&255), ann)
	}
	if n := len(f.throttle.by); n > maxGuessed {
		t.Errorf("%d users are remembered", n)
	}
}

// TestGuessingKeepsNobodyOut logs in while others guess passwords from the same address,
// of the same user and of others: the right password is accepted without delay, and clears
// the failures once the delays have ended. The clock stands still, so a login that is
// delayed never ends.
func TestGuessingKeepsNobodyOut(t *testing.T) {
	f := newFixture(t)
	ann, bob := at("ann", "shop"), at("bob", "shop")
	f.user(ann, "right")
	f.user(bob, "right")
	for range freeFailures + maxDelayed - 2 {
		f.throttle.count(guessOf(here.Remote, ann), nil)
	}
	gone, cancel := context.WithCancelCause(context.Background())
	waiting := make(chan error, 1)
	go func() { waiting <- f.throttle.failed(gone, here.Remote, ann, nil) }()
	for _, n := range []Name{bob, ann} {
		for _, mechanism := range []string{SHA1, SHA256} {
			if u, err := f.login(here, n, "right", mechanism, true); err != nil || u.Name != n {
				t.Errorf("%v by %s: %v", n, mechanism, err)
			}
		}
	}
	if n := len(f.throttle.by); n != 1 {
		t.Errorf("the failures of %d are remembered", n)
	}
	cancel(mongoerr.New(mongoerr.ClientDisconnect, "gone"))
	if err := <-waiting; err == nil {
		t.Error("a guess succeeded")
	}
	_ = f.clock.Advance(maxPenalty)
	if _, err := f.login(here, ann, "right", SHA256, true); err != nil || len(f.throttle.by) != 0 {
		t.Errorf("%v, the failures of %d are remembered", err, len(f.throttle.by))
	}
}

// TestHangingUpSparesNoDelay guesses over 40 connections that hang up before the reply.
// The places are taken until the delays end; clients from elsewhere, and those that log in as
// another user, need none of them.
func TestHangingUpSparesNoDelay(t *testing.T) {
	f := newFixture(t)
	ann, bob := at("ann", "shop"), at("bob", "shop")
	f.user(ann, "right")
	f.user(bob, "right")
	gone, cancel := context.WithCancelCause(context.Background())
	cancel(mongoerr.New(mongoerr.ClientDisconnect, "gone"))
	guess := func() (looked bool) {
		place, err := f.throttle.admit(gone, here.Remote, ann)
		if err != nil {
			return false
		}
		_ = f.throttle.failed(gone, here.Remote, ann, place)
		return true
	}
	looks := func(seconds int) (n int) {
		for range seconds * 4 {
			for range 40 {
				if guess() {
					n++
				}
			}
			_ = f.clock.Advance(250 * time.Millisecond)
		}
		return n
	}
	const begin = freeFailures + maxDelayed + 5 // the first delays are short
	if n := looks(60); n > begin+60*maxDelayed/5 {
		t.Errorf("%d passwords were looked at in a minute", n)
	}
	for _, other := range []struct {
		peer Peer
		n    Name
	}{{here, bob}, {Peer{Remote: "10.0.0.8:1", Local: here.Local}, ann}} {
		if _, err := f.login(other.peer, other.n, "right", SHA256, true); err != nil {
			t.Errorf("%+v: %v", other, err)
		}
	}
	for guess() {
	}
	waits := make(chan error, 1)
	go func() {
		_, err := f.login(here, ann, "right", SHA256, true)
		waits <- err
	}()
	f.clock.WaitForTimers(1)
	_ = f.clock.Advance(maxPenalty)
	if err := <-waits; err != nil {
		t.Error(err)
	}
}

// Someone who tries many names does not have his failures for one forgotten.
func TestManyNamesForgetNoDelays(t *testing.T) {
	f := newFixture(t)
	ann := guessOf(here.Remote, at("ann", "shop"))
	for range freeFailures + 1 {
		f.throttle.count(ann, nil)
	}
	for i := range maxGuessed + 10 {
		f.throttle.count(guessOf(here.Remote, at(fmt.Sprint(i), "shop")), nil)
	}
	if d := f.throttle.count(ann, nil); d != 2*firstPenalty || len(f.throttle.by) > maxGuessed {
		t.Errorf("delay %v, %d are remembered", d, len(f.throttle.by))
	}
}

// The first failure, too, is answered only after the delay that authFailedDelayMs sets.
func TestFailedDelay(t *testing.T) {
	f := newFixture(t)
	delay := 300 * time.Millisecond
	f.throttle.least = func() time.Duration { return delay }
	done := make(chan error, 1)
	fail := func() { done <- f.throttle.failed(context.Background(), here.Remote, at("ann", "shop"), nil) }
	go fail()
	f.clock.WaitForTimers(1)
	_ = f.clock.Advance(delay - time.Millisecond)
	select {
	case err := <-done:
		t.Fatalf("not held back: %v", err)
	default:
	}
	_ = f.clock.Advance(time.Millisecond)
	if err := <-done; !errors.Is(err, error(ErrFailed)) {
		t.Fatal(err)
	}
	delay = 0
	fail()
	if err := <-done; !errors.Is(err, error(ErrFailed)) {
		t.Fatal(err)
	}
}

func TestThrottleWaits(t *testing.T) {
	f := newFixture(t)
	ann := at("ann", "shop")
	for range freeFailures {
		if err := f.throttle.failed(context.Background(), here.Remote, ann, nil); !errors.Is(err, error(ErrFailed)) {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- f.throttle.failed(context.Background(), here.Remote, ann, nil) }()
	f.clock.WaitForTimers(1)
	select {
	case err := <-done:
		t.Fatalf("not held back: %v", err)
	default:
	}
	_ = f.clock.Advance(firstPenalty)
	if err := <-done; !errors.Is(err, error(ErrFailed)) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(mongoerr.New(mongoerr.ClientDisconnect, "gone"))
	if err := f.throttle.failed(ctx, here.Remote, ann, nil); !errors.Is(err, error(ErrFailed)) {
		t.Error(err) // the clock stands still: it does not wait for a client that has gone
	}
}

// TestAuthorizationIdentity: users may name only themselves as authorization identity.
func TestAuthorizationIdentity(t *testing.T) {
	f := newFixture(t)
	f.user(at("ann", "shop"), "p")
	f.user(at("root", "shop"), "p")
	for payload, ok := range map[string]bool{
		"n,,n=ann,r=abcdef": true, "n,a=ann,n=ann,r=abcdef": true, "n,a=root,n=ann,r=abcdef": false, "n,a=Ann,n=ann,r=abcdef": false,
		"y,a=root,n=ann,r=abcdef": false, "n,a=root,n=nobody,r=abcdef": false,
	} {
		v, err := f.Begin(here, "shop", SHA256, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := v.Step(context.Background(), []byte(payload)); (err == nil) != ok || err != nil && !errors.Is(err, error(ErrFailed)) {
			t.Errorf("%s: %v", payload, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for remote, want := range map[string]string{
		"10.0.0.7:5": "10.0.0.7", "[::ffff:10.0.0.7]:5": "10.0.0.7", "[2001:db8::1]:5": "2001:db8::/64", "@": "@",
	} {
		if got := addressOf(remote); got != want {
			t.Errorf("%s: %s", remote, got)
		}
	}
	for remote, want := range map[string]bool{
		"127.0.0.1:5": true, "127.8.0.1:5": true, "[::1]:5": true, "[::ffff:127.0.0.1]:5": true, "@": true, "/tmp/x.sock": true, "": true,
		"10.0.0.1:5": false, "0.0.0.0:5": false, "example.com:5": false,
	} {
		if IsLocal(remote) != want {
			t.Errorf("%s: %t", remote, !want)
		}
	}
}
