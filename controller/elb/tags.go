package elb

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"

	"target-ownership-controller/ownership"
)

// Tags are those of a group at a time.
type Tags struct {
	Values map[string]string // of all who ask: not to be changed
	Read   time.Time
}

// maxTagged bounds the groups whose tags are remembered.
const maxTagged = 10_000

// tagsRead are tags as last read, and the reads that are on their way.
type tagsRead struct {
	known *lru.Cache // of Tags, by ARN
	reads *singleflight.Group
}

func newTagsRead() tagsRead { return tagsRead{lru.New(maxTagged), new(singleflight.Group)} }

func (t tagsRead) since(group ownership.GroupARN, oldest time.Time) (Tags, bool) {
	known, ok := t.known.Get(group)
	if !ok || !known.(Tags).Read.After(oldest) {
		return Tags{}, false
	}
	return known.(Tags), true
}

// Tags returns tags of the group that are younger than age. All who ask for a
// group share what is read. What could not be read is asked for again.
//
// Errors are those of [Client.Group].
func (c *Client) Tags(ctx context.Context, group ownership.GroupARN, age time.Duration) (Tags, error) {
	if err := c.check(group); err != nil {
		return Tags{}, err
	}
	oldest := c.options.Now().Add(-age)
	answer := c.tags.reads.DoChan(string(group), func() (any, error) {
		if known, ok := c.tags.since(group, oldest); ok {
			return known, nil
		}
		return c.readTags(context.WithoutCancel(ctx), group) // who asked first may give up before the others do
	})
	select {
	case <-ctx.Done():
		return Tags{}, fmt.Errorf("answer not waited for: %w", ctx.Err())
	case a := <-answer:
		if a.Err != nil {
			return Tags{}, fmt.Errorf("read the tags of target group %s: %w", group.Name(), ofGroup(a.Err))
		}
		return a.Val.(Tags), nil
	}
}

// readTags asks for one group, though AWS takes 20 in a call
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_DescribeTags.html):
// it refuses the call as a whole for one that is missing.
func (c *Client) readTags(ctx context.Context, group ownership.GroupARN) (Tags, error) {
	found := Tags{Values: map[string]string{}, Read: c.options.Now()}
	var out *elbv2.DescribeTagsOutput
	err := c.read(ctx, func(ctx context.Context, options ...func(*elbv2.Options)) (err error) {
		out, err = c.api.DescribeTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: []string{string(group)}}, options...)
		return err
	})
	if err != nil {
		return Tags{}, err
	}
	if n := len(out.TagDescriptions); n != 1 || aws.ToString(out.TagDescriptions[0].ResourceArn) != string(group) {
		return Tags{}, fmt.Errorf("%w: the answer is not about this group", ownership.ErrGroupUnavailable)
	}
	for _, tag := range out.TagDescriptions[0].Tags {
		found.Values[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	c.tags.known.Add(group, found)
	return found, nil
}
