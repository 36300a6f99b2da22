package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/logging"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/controller/metrics"
)

// loadAWS reads the AWS configuration, and fills in the region if the flag
// gave none.
func loadAWS(ctx context.Context, s *settings) (aws.Config, error) {
	c, err := awsconfig.Load(ctx, s.Region, "target-ownership-controller", logging.LoggerFunc(remark))
	if err != nil {
		return aws.Config{}, err
	}
	c.APIOptions = append(c.APIOptions, metrics.TimeCalls)
	s.Region = c.Region
	return c, nil
}
