package awsconfig

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/spf13/pflag"
)

// Site says where the ownership table and the target groups are.
type Site struct {
	Table  string
	Region string

	DynamoDBEndpoint string
	ELBv2Endpoint    string
}

// Bind adds the flags of a site, the same for every command.
func (s *Site) Bind(f *pflag.FlagSet) {
	f.StringVar(&s.Table, "table", "target-ownership", "name of the DynamoDB table that all clusters share")
	f.StringVar(&s.Region, "region", "", "AWS region of the table and of the target groups; default: the region of the AWS configuration or of the instance")
	f.StringVar(&s.DynamoDBEndpoint, "dynamodb-endpoint", "", "URL of the DynamoDB endpoint; default: the region's own")
	f.StringVar(&s.ELBv2Endpoint, "elbv2-endpoint", "", "URL of the Elastic Load Balancing v2 endpoint; default: the region's own")
}

// DynamoDB returns a client for the table.
func (s Site) DynamoDB(c aws.Config) *dynamodb.Client {
	return dynamodb.NewFromConfig(c, func(o *dynamodb.Options) {
		o.BaseEndpoint = endpoint(s.DynamoDBEndpoint, o.BaseEndpoint)
		// Local engines send no checksum, and the SDK would log a warning for
		// each of their responses.
		o.DisableValidateResponseChecksum = s.DynamoDBEndpoint != ""
	})
}

// ELBv2 returns a client for the target groups.
func (s Site) ELBv2(c aws.Config) *elasticloadbalancingv2.Client {
	return elasticloadbalancingv2.NewFromConfig(c, func(o *elasticloadbalancingv2.Options) {
		o.BaseEndpoint = endpoint(s.ELBv2Endpoint, o.BaseEndpoint)
	})
}
