package queue

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// The kinds of due events of a queue, as forecasts name them in the field
// lane.
const (
	laneExpiry   = "expiry"   // a message that is ready expires
	laneLock     = "lock"     // a lock ends, and perhaps the message is dead-lettered
	laneSchedule = "schedule" // a scheduled message becomes ready; its time to live begins
	laneIdle     = "idle"     // the queue is deleted
)

// Removes reports whether the events of a lane of a forecast remove something: ends of locks
// and scheduled times do not.
func Removes(lane string) bool { return lane != laneLock && lane != laneSchedule }

// lanes are the indexes of due messages.
var lanes = []struct{ index, lane string }{{byExpiry, laneExpiry}, {byLock, laneLock}, {bySchedule, laneSchedule}}

// AddDues adds the messages of a queue that fall due first: that expire, whose lock ends,
// or whose scheduled time comes.
func AddDues(coll storage.Collection, d *ttl.DueList) error {
	onReceive := FateOf(coll.Info()).OnReceive
	for _, o := range lanes {
		if o.index == byExpiry && onReceive {
			continue
		}
		if err := d.AddDates(coll, ttl.Message, o.index, o.lane); err != nil {
			return err
		}
	}
	return nil
}

// Forecast lists the due events of the messages of a queue and of the queue
// itself, and counts its messages by their present state. It does not count as
// activity, and reads only indexes, except for messages that are due already.
func (b *Broker) Forecast(tx storage.Tx, ns storage.Namespace, h ttl.Horizon) (list []ttl.Forecast, st Stats, err error) {
	e, err := b.open(tx, Ref{Namespace: ns}, h.Now, b.Changes())
	if err != nil {
		return nil, st, err
	}
	if st, err = e.stats(); err != nil {
		return nil, st, err
	}
	for _, o := range lanes {
		if o.index == byExpiry && e.config.ExpireOnReceiveOnly {
			continue // no pass removes them
		}
		f, err := ttl.ForecastDates(e.main, ttl.Message, o.index, o.lane, h)
		if err != nil {
			return nil, st, err
		}
		list = append(list, f)
	}
	if st.IdleDeadline != 0 {
		list = append(list, ttl.ForecastOne(ttl.Message, laneIdle, st.IdleDeadline, h))
	}
	return list, st, nil
}
