// Package awsconfig reads the AWS configuration of the commands, and says what
// to correct in it.
package awsconfig

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

// Load reads the AWS configuration. An empty region is that of the
// configuration or of the EC2 instance; that there is none is an error.
// The application ID goes into the user agent, for people who read CloudTrail.
// What the SDK remarks goes to log; what became of a call, its error says.
func Load(ctx context.Context, region, appID string, log logging.Logger) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithAppID(appID), config.WithLogger(log)}
	if region != "" {
		options = append(options, config.WithRegion(region))
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
	c.Credentials = Chain{c.Credentials}
	return c, nil
}

// endpoint is the URL of a flag, or else that of the AWS configuration: nil,
// or the likes of AWS_ENDPOINT_URL.
func endpoint(flag string, configured *string) *string {
	if flag == "" {
		return configured
	}
	return &flag
}

// isFromInstance reports whether the metadata of the EC2 instance, which is
// asked last, gave no answer.
func isFromInstance(err error) bool {
	operation, ok := errors.AsType[*smithy.OperationError](err)
	return ok && operation.ServiceID == "ec2imds"
}
