package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"

	"target-ownership-controller/controller/metrics"
)

// loadAWS reads the AWS configuration, and fills in the region if the flag
// gave none.
func loadAWS(ctx context.Context, s *settings) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithAppID("target-ownership-controller")}
	if s.region != "" {
		options = append(options, config.WithRegion(s.region))
	} else {
		options = append(options, config.WithEC2IMDSRegion())
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	switch {
	case isFromInstance(err):
		return aws.Config{}, fmt.Errorf("--region: give the AWS region of the table and of the target groups; AWS_REGION and the AWS configuration name none, and neither does an EC2 instance: %w", err)
	case err != nil:
		return aws.Config{}, fmt.Errorf("read the AWS configuration: %w; correct the files, or the environment variables AWS_PROFILE, AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE", err)
	case c.Region == "":
		return aws.Config{}, errors.New("--region: give the AWS region of the table and of the target groups; AWS_REGION and the AWS configuration name none")
	}
	c.Credentials = chain{c.Credentials}
	c.APIOptions = append(c.APIOptions, metrics.TimeCalls)
	s.region = c.Region
	return c, nil
}

// isFromInstance reports whether the metadata of the EC2 instance, which is
// asked last, gave no answer.
func isFromInstance(err error) bool {
	operation, ok := errors.AsType[*smithy.OperationError](err)
	return ok && operation.ServiceID == "ec2imds"
}
