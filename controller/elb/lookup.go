package elb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/ownership"
)

// groupsPerCall is what AWS allows. The API reference does not name it, the
// refusal does: "You cannot describe more than '20' target groups at a time"
// (https://github.com/ansible-collections/amazon.aws/pull/1593).
const groupsPerCall = 20

// lookups makes one call after the other, and lets the one that waits answer
// what is asked meanwhile too: a start with many bindings asks for many groups.
// A binding asks once in its life, and waits for one call before its own.
type lookups struct {
	mu      sync.Mutex
	waiting *lookup // nil if none waits for its turn or for the rate limit
	last    *lookup
}

// lookup is one DescribeTargetGroups call.
type lookup struct {
	before *lookup    // whose turn it is first; nil for none
	refs   []GroupRef // all by ARN or all by name; complete once the call is made
	done   chan struct{}
	groups []types.TargetGroup
	err    error
}

// join returns the lookup that will answer the reference, and whether it is
// a new one.
func (l *lookups) join(ref GroupRef) (joined *lookup, isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch w := l.waiting; {
	case w != nil && slices.Contains(w.refs, ref):
		return w, false
	case w != nil && len(w.refs) < groupsPerCall:
		w.refs = append(w.refs, ref)
		return w, false
	}
	next := newLookup(ref)
	next.before = l.last
	l.waiting, l.last = next, next
	return next, true
}

// complete ends the joining.
func (l *lookups) complete(one *lookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == one {
		l.waiting = nil
	}
}

func newLookup(ref GroupRef) *lookup {
	return &lookup{refs: []GroupRef{ref}, done: make(chan struct{})}
}

// describe looks a group up, together with others that are looked up at the
// same time.
func (c *Client) describe(ctx context.Context, ref GroupRef) (types.TargetGroup, error) {
	kind := &c.byARN
	if ref.Name != "" {
		kind = &c.byName
	}
	shared, isNew := kind.join(ref)
	if isNew {
		// Who asked first may give up before the others do.
		go shared.run(context.WithoutCancel(ctx), c, kind)
	}
	select {
	case <-ctx.Done():
		return types.TargetGroup{}, fmt.Errorf("answer not waited for: %w", ctx.Err())
	case <-shared.done:
	}
	if len(shared.refs) > 1 && ofSomeGroup(shared.err) {
		shared = newLookup(ref)
		shared.run(ctx, c, kind)
	}
	return shared.answer(ref)
}

// ofSomeGroup reports whether the other groups could have been described: AWS
// refuses a call as a whole for one group that is missing or invalid.
func ofSomeGroup(err error) bool {
	return errors.Is(err, ownership.ErrGroupMissing) || errors.Is(err, ownership.ErrInvalidTarget)
}

func (l *lookup) run(ctx context.Context, c *Client, kind *lookups) {
	defer close(l.done)
	if l.before != nil {
		<-l.before.done
		l.before = nil // or all that were ever made would be kept
	}
	l.err = c.reads.wait(ctx, ownership.CallBudget)
	kind.complete(l)
	if l.err != nil {
		return
	}
	input := &elbv2.DescribeTargetGroupsInput{}
	for _, ref := range l.refs {
		if ref.Name != "" {
			input.Names = append(input.Names, ref.Name)
		} else {
			input.TargetGroupArns = append(input.TargetGroupArns, ref.ARN)
		}
	}
	failed := c.call(ctx, c.reads, func(ctx context.Context, options ...func(*elbv2.Options)) error {
		out, err := c.api.DescribeTargetGroups(ctx, input, options...)
		if err == nil {
			l.groups = out.TargetGroups
		}
		return err
	})
	if failed != nil {
		l.err = failed
	}
}

// answer is the one group that the reference names.
func (l *lookup) answer(ref GroupRef) (types.TargetGroup, error) {
	if l.err != nil {
		return types.TargetGroup{}, l.err
	}
	var found []types.TargetGroup
	for _, g := range l.groups {
		if ref == (GroupRef{ARN: aws.ToString(g.TargetGroupArn)}) || ref == (GroupRef{Name: aws.ToString(g.TargetGroupName)}) {
			found = append(found, g)
		}
	}
	if len(found) != 1 {
		// AWS reports a missing group as an error; this is not an answer.
		return types.TargetGroup{}, fmt.Errorf("%w: the answer has %d such groups", ownership.ErrGroupUnavailable, len(found))
	}
	return found[0], nil
}
