package elb_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// All who ask for the tags of a group within their age share one call.
func TestTagsAreReadOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), newFake()
		api.tags = map[string]string{"team": "shop"}
		api.before = func(context.Context, call) error { time.Sleep(time.Second); return nil }
		client, began := elb.New(api, elb.Options{}), time.Now()
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 200 * time.Millisecond) // some ask during the call, some after it
				tags, err := client.Tags(t.Context(), arn, 5*time.Minute)
				if err != nil || tags.Values["team"] != "shop" || !tags.Read.Equal(began) {
					t.Error(i, tags, err)
				}
			})
		}
		all.Wait()
		g.Expect(api.calls).To(HaveLen(1))

		api.tags = nil
		time.Sleep(5*time.Minute - time.Since(began) - time.Nanosecond)
		tags, err := client.Tags(t.Context(), arn, 5*time.Minute)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(tags.Values).To(HaveKeyWithValue("team", "shop"))
		g.Expect(api.calls).To(HaveLen(1))
		time.Sleep(time.Nanosecond)
		tags, err = client.Tags(t.Context(), arn, 5*time.Minute)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(tags.Values).To(BeEmpty())
		g.Expect(api.calls).To(HaveLen(2))
	})
}

// Tags that cannot be read are not those of a group without any, and are asked
// for again.
func TestTagsThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ err, class error }{
		"forbidden": {answered(403, "AccessDenied"), ownership.ErrGroupForbidden},
		"throttled": {answered(400, "Throttling"), ownership.ErrGroupThrottled},
		"failure":   {answered(500, "InternalFailure"), ownership.ErrGroupUnavailable},
		"missing":   {answered(400, "TargetGroupNotFound"), ownership.ErrGroupMissing},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			api.before, api.tags = always(c.err), map[string]string{"team": "shop"}
			client := elb.New(api, elb.Options{})
			tags, err := client.Tags(t.Context(), arn, time.Hour)
			g.Expect(err).To(MatchError(c.class))
			g.Expect(err).To(MatchError(ContainSubstring("read the tags of target group web")))
			g.Expect(tags).To(BeZero())
			api.before = nil
			tags, err = client.Tags(t.Context(), arn, time.Hour)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(tags.Values).To(Equal(api.tags))
		})
	}
}

func TestTagsOfAGroupElsewhereAreNotAskedFor(t *testing.T) {
	g, api := NewWithT(t), newFake()
	_, err := elb.New(api, elb.Options{Account: "210987654321"}).Tags(t.Context(), arn, time.Hour)
	g.Expect(err).To(MatchError(elb.ErrGroupElsewhere))
	g.Expect(api.calls).To(BeEmpty())
}

// Who gives up does not take the answer from the others.
func TestTagsAreReadForWhoStillWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), newFake()
		api.before = func(ctx context.Context, _ call) error { time.Sleep(2 * time.Second); return ctx.Err() }
		client := elb.New(api, elb.Options{})
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var first, second error
		var all sync.WaitGroup
		all.Go(func() { _, first = client.Tags(impatient, arn, time.Hour) })
		synctest.Wait()
		all.Go(func() { _, second = client.Tags(t.Context(), arn, time.Hour) })
		all.Wait()
		g.Expect(first).To(MatchError(context.DeadlineExceeded))
		g.Expect(second).NotTo(HaveOccurred())
		g.Expect(api.calls).To(HaveLen(1))
	})
}
