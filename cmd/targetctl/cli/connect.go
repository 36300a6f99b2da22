package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/smithy-go/logging"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/cmd/internal/listing"
	"target-ownership-controller/cmd/targetctl/doctor"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/pass"
)

// site is the table and the target groups of one region.
type site struct {
	region  string
	table   admin.Table
	history history.Store
	groups
	// verify compares the table with its definition; create makes it so.
	verify, create func(context.Context) error
	// examine looks for what is wrong.
	examine func(context.Context, doctor.Scope) (doctor.Report, error)
}

// groups is what the commands need of a load balancer.
type groups interface {
	Group(context.Context, elb.GroupRef) (elb.Group, error)
	Health(context.Context, ownership.GroupARN) (map[ownership.Target]elb.State, error)
	pass.Group
}

// connect makes no call to the table or the load balancer.
func connect(ctx context.Context, s awsconfig.Site, r roles) (*site, error) {
	c, err := awsconfig.Load(ctx, s.Region, "targetctl", logging.Nop{})
	if err != nil {
		return nil, err
	}
	reached, err := reachable(s, c, r)
	if err != nil {
		return nil, err
	}
	table := s.DynamoDB(c)
	store := dynamo.New(table, s.Table, dynamo.Options{HistoryAttempts: 3})
	s.Region = c.Region
	there := &site{
		region:  c.Region,
		table:   store,
		history: store,
		groups:  reached,
		verify:  store.Verify,
		create:  func(ctx context.Context) error { return dynamo.Create(ctx, table, dynamo.Definition(s.Table)) },
	}
	there.examine = func(ctx context.Context, scope doctor.Scope) (doctor.Report, error) {
		return doctor.Doctor{Site: s, DynamoDB: table, ELBv2: s.ELBv2(c), Table: store, Lister: there, Scope: scope}.Run(ctx)
	}
	return there, nil
}

// Health implements [admin.Lister].
func (s *site) Health(ctx context.Context, group ownership.GroupARN) (admin.Health, error) {
	return listing.Lister{Groups: s.groups}.Health(ctx, group)
}

// group is the ARN of a group that was given, as that argument or flag, by its
// ARN or its name.
func (s *site) group(ctx context.Context, argument, name string) (ownership.GroupARN, error) {
	if arn, err := ownership.ParseGroupARN(name); err == nil {
		return arn, s.inRegion(argument, arn)
	}
	found, err := s.Group(ctx, elb.GroupRef{Name: name})
	switch {
	case errors.Is(err, elb.ErrGroupInvalid):
		return "", usageError{fmt.Errorf("%s: %q is not the ARN or the name of a target group: %w", argument, name, err)}
	case errors.Is(err, ownership.ErrGroupMissing):
		return "", fmt.Errorf("%w; it was looked for in %s, and --region names another region", err, s.region)
	case err != nil:
		return "", err
	}
	return found.ARN, nil
}

// inRegion refuses a group that no call to this region finds.
func (s *site) inRegion(argument string, group ownership.GroupARN) error {
	if there := group.Region(); there != s.region {
		return usageError{fmt.Errorf("%s: %s is in region %s, not in %s: give --region %s", argument, group, there, s.region, there)}
	}
	return nil
}
