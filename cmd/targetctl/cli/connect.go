package cli

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/spf13/pflag"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/pass"
)

// settings say where the table and the target groups are. The flags are those
// of the controller.
type settings struct {
	table            string
	region           string
	dynamoDBEndpoint string
	elbv2Endpoint    string
}

func (s *settings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.table, "table", "target-ownership", "name of the DynamoDB table that all clusters share")
	f.StringVar(&s.region, "region", "", "AWS region of the table and of the target groups; default: the region of the AWS configuration or of the instance")
	f.StringVar(&s.dynamoDBEndpoint, "dynamodb-endpoint", "", "URL of the DynamoDB endpoint; default: the region's own")
	f.StringVar(&s.elbv2Endpoint, "elbv2-endpoint", "", "URL of the Elastic Load Balancing v2 endpoint; default: the region's own")
}

// site is the table and the target groups of one region.
type site struct {
	table admin.Table
	groups
	// verify compares the table with its definition; create makes it so.
	verify, create func(context.Context) error
}

// groups is what the commands need of a load balancer.
type groups interface {
	Group(context.Context, elb.GroupRef) (elb.Group, error)
	Health(context.Context, ownership.GroupARN) (map[ownership.Target]elb.State, error)
	pass.Group
}

// connect makes no call to the table or the load balancer.
func connect(ctx context.Context, s settings) (*site, error) {
	c, err := awsconfig.Load(ctx, s.region, "targetctl")
	if err != nil {
		return nil, err
	}
	table := dynamodb.NewFromConfig(c, func(o *dynamodb.Options) {
		o.BaseEndpoint = awsconfig.Endpoint(s.dynamoDBEndpoint, o.BaseEndpoint)
		// Local engines send no checksum, and the SDK would log a warning for
		// each of their responses.
		o.DisableValidateResponseChecksum = s.dynamoDBEndpoint != ""
	})
	balancer := elasticloadbalancingv2.NewFromConfig(c, func(o *elasticloadbalancingv2.Options) {
		o.BaseEndpoint = awsconfig.Endpoint(s.elbv2Endpoint, o.BaseEndpoint)
	})
	store := dynamo.New(table, s.table, dynamo.Options{})
	return &site{
		table:  store,
		groups: elb.New(balancer, elb.Options{Region: c.Region}),
		verify: store.Verify,
		create: func(ctx context.Context) error { return dynamo.Create(ctx, table, dynamo.Definition(s.table)) },
	}, nil
}

// Health implements [admin.Lister].
func (s *site) Health(ctx context.Context, group ownership.GroupARN) (admin.Health, error) {
	states, err := s.groups.Health(ctx, group)
	if err != nil {
		return nil, err
	}
	health := make(admin.Health, len(states))
	for t, state := range states {
		health[t] = string(state)
	}
	return health, nil
}

// group is the ARN of a group that was given by its ARN or its name.
func (s *site) group(ctx context.Context, name string) (ownership.GroupARN, error) {
	if arn, err := ownership.ParseGroupARN(name); err == nil {
		return arn, nil
	}
	found, err := s.Group(ctx, elb.GroupRef{Name: name})
	if err != nil {
		return "", fmt.Errorf("GROUP has to be the ARN or the name of a target group: %w", err)
	}
	return found.ARN, nil
}
