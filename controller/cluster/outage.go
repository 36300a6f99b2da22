package cluster

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// remindEvery is how often a failure that goes on is logged again.
const remindEvery = 10 * time.Minute

// outage logs something that is tried again and again: the whole text when it
// begins to fail or the cause is another one, then a short line now and then,
// and one when it is over. A new outage is none.
type outage struct {
	name        string // of the logger
	cause       string // empty while there is none
	since, told time.Time
}

// note logs what became of an attempt, err being nil for a success.
func (o *outage) note(ctx context.Context, what string, err error) {
	logger, now := log.FromContext(ctx).WithName(o.name), time.Now()
	switch {
	case err == nil && o.cause == "":
	case err == nil:
		logger.Info("it works again", "after", now.Sub(o.since).Round(time.Second).String())
		*o = outage{name: o.name}
	case causeOf(err) != o.cause:
		if o.cause == "" {
			o.since = now
		}
		o.cause, o.told = causeOf(err), now
		logger.Error(err, what)
	case now.Sub(o.told) >= remindEvery:
		o.told = now
		logger.Info("still so: "+what, "for", now.Sub(o.since).Round(time.Second).String())
	}
}
