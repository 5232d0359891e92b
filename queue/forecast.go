package queue

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// What time does to a queue, as forecasts call it.
const (
	laneExpiry   = "expiry"   // a message that is ready expires
	laneLock     = "lock"     // a lock ends, and with it perhaps the message
	laneSchedule = "schedule" // a scheduled message becomes ready; its time to live begins
	laneIdle     = "idle"     // the queue is deleted
)

// Forecast tells what time will do to the messages of a queue and to the queue
// itself, and counts its messages as they stand now. It is no activity, and
// reads nothing but indexes beside what is due already.
func (b *Broker) Forecast(tx storage.Tx, ns storage.Namespace, h ttl.Horizon) (list []ttl.Forecast, st Stats, err error) {
	e, err := b.open(tx, Ref{Namespace: ns}, h.Now, &effects{})
	if err != nil {
		return nil, st, err
	}
	if st, err = e.stats(); err != nil {
		return nil, st, err
	}
	for _, o := range []struct{ index, lane string }{{byExpiry, laneExpiry}, {byLock, laneLock}, {bySchedule, laneSchedule}} {
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
