package elb_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// oneASecond makes every second read wait.
var oneASecond = elb.Limits{Reads: elb.Limit{PerSecond: 1, Burst: 1}}

// nameOf and arnOf are those of the nth of the groups that many adds.
func nameOf(n int) string { return fmt.Sprintf("web-%02d", n) }

func arnOf(n int) string {
	return fmt.Sprintf("arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web-%02d/0123456789abcdef", n)
}

// many is an API with that many groups more.
func many(n int) *fakeAPI {
	api := newFake()
	for i := range n {
		api.more = append(api.more, types.TargetGroup{TargetGroupArn: aws.String(arnOf(i)), TargetGroupName: aws.String(nameOf(i))})
	}
	return api
}

// together looks all groups up at once and returns the names that came back,
// or the errors.
func together(client *elb.Client, refs ...elb.GroupRef) (names []string, errs []error) {
	names, errs = make([]string, len(refs)), make([]error, len(refs))
	var all sync.WaitGroup
	for i, ref := range refs {
		all.Go(func() {
			group, err := client.Group(context.Background(), ref)
			names[i], errs[i] = group.Name, err
		})
		synctest.Wait() // one after the other, each waits
	}
	all.Wait()
	return names, errs
}

// described are the numbers of groups that the calls so far asked for.
func (f *fakeAPI) described() []int {
	var n []int
	for _, c := range f.calls {
		n = append(n, len(c.groups))
	}
	return n
}

func TestLookupsShareTheCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api, began := NewWithT(t), many(30), time.Now()
		var refs []elb.GroupRef
		var want []string
		for i := range 30 {
			refs, want = append(refs, elb.GroupRef{ARN: arnOf(i)}), append(want, nameOf(i))
		}
		names, errs := together(elb.New(api, elb.Options{Limits: oneASecond}), refs...)
		g.Expect(names).To(Equal(want))
		g.Expect(errs).To(HaveEach(BeNil()))
		g.Expect(api.described()).To(Equal([]int{1, 20, 9}))
		g.Expect(time.Since(began)).To(Equal(2 * time.Second))
	})
}

// While a call is under way, what is asked meanwhile is one more call.
func TestLookupsShareTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api, began := NewWithT(t), many(3), time.Now()
		api.before = func(context.Context, call) error { time.Sleep(time.Second); return nil }
		_, errs := together(elb.New(api, elb.Options{}), elb.GroupRef{Name: nameOf(0)}, elb.GroupRef{Name: nameOf(1)}, elb.GroupRef{Name: nameOf(2)})
		g.Expect(errs).To(HaveEach(BeNil()))
		g.Expect(api.described()).To(Equal([]int{1, 2}))
		g.Expect(time.Since(began)).To(Equal(2 * time.Second))
	})
}

func TestLookupsOfOneGroupAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), many(2)
		first, same := elb.GroupRef{Name: nameOf(0)}, elb.GroupRef{Name: nameOf(1)}
		names, _ := together(elb.New(api, elb.Options{Limits: oneASecond}), first, same, same, same)
		g.Expect(names).To(Equal([]string{nameOf(0), nameOf(1), nameOf(1), nameOf(1)}))
		g.Expect(api.described()).To(Equal([]int{1, 1}))
	})
}

// AWS takes no ARNs together with names.
func TestLookupsByNameAndByARNAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), many(5)
		names, _ := together(elb.New(api, elb.Options{Limits: oneASecond}),
			elb.GroupRef{Name: nameOf(0)}, elb.GroupRef{Name: nameOf(1)}, elb.GroupRef{ARN: arnOf(2)}, elb.GroupRef{ARN: arnOf(3)}, elb.GroupRef{Name: nameOf(4)})
		g.Expect(names).To(Equal([]string{nameOf(0), nameOf(1), nameOf(2), nameOf(3), nameOf(4)}))
		g.Expect(api.described()).To(Equal([]int{1, 2, 2}))
	})
}

// AWS refuses the whole call for one group that does not exist.
func TestAMissingGroupIsNoOtherGroupsTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), many(3)
		names, errs := together(elb.New(api, elb.Options{Limits: oneASecond}),
			elb.GroupRef{Name: nameOf(0)}, elb.GroupRef{Name: nameOf(1)}, elb.GroupRef{Name: "missing"}, elb.GroupRef{Name: nameOf(2)})
		g.Expect(names).To(Equal([]string{nameOf(0), nameOf(1), "", nameOf(2)}))
		g.Expect(errs[2]).To(MatchError(ownership.ErrGroupMissing))
		g.Expect(api.described()).To(Equal([]int{1, 3, 1, 1, 1}))
	})
}

// What befalls all of them is not tried again for each.
func TestLookupsShareAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), many(3)
		api.before = always(answered(403, "AccessDenied"))
		_, errs := together(elb.New(api, elb.Options{Limits: oneASecond}),
			elb.GroupRef{Name: nameOf(0)}, elb.GroupRef{Name: nameOf(1)}, elb.GroupRef{Name: nameOf(2)})
		g.Expect(errs).To(HaveEach(MatchError(ownership.ErrGroupForbidden)))
		g.Expect(api.described()).To(Equal([]int{1, 2}))
	})
}

func TestALookupThatIsGivenUpHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api, began := NewWithT(t), many(3), time.Now()
		client := elb.New(api, elb.Options{Limits: oneASecond})
		together(client, elb.GroupRef{Name: nameOf(0)})

		ctx, giveUp := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer giveUp()
		first := make(chan error)
		go func() {
			_, err := client.Group(ctx, elb.GroupRef{Name: nameOf(1)})
			first <- err
		}()
		synctest.Wait()
		second := make(chan []string)
		go func() {
			names, _ := together(client, elb.GroupRef{Name: nameOf(2)})
			second <- names
		}()
		g.Expect(<-first).To(MatchError(context.DeadlineExceeded))
		g.Expect(time.Since(began)).To(Equal(300 * time.Millisecond))
		g.Expect(<-second).To(Equal([]string{nameOf(2)}))
		g.Expect(time.Since(began)).To(Equal(time.Second))
	})
}
