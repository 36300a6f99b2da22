package awsconfig

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/smithy-go"
)

// Chain is the SDK's chain of credential providers. Without credentials it
// answers as AWS answers a request without them, so that whoever gets the
// error takes it for a refusal, which it is: the call was not sent. The SDK's
// own error would pass for a network in trouble.
type Chain struct{ aws.CredentialsProvider }

// Retrieve implements aws.CredentialsProvider.
func (c Chain) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	nothingSet := c.isInstanceRole()
	var answer smithy.APIError // such as that of STS, on assuming a role
	switch {
	case err == nil, errors.As(err, &answer), errors.Is(err, context.Canceled):
		return found, err
	case errors.Is(err, context.DeadlineExceeded) && !nothingSet:
		return found, err
	}
	return found, &NoCredentials{Cause: err, NothingSet: nothingSet}
}

// isInstanceRole reports whether no source of credentials is configured, so
// that the role of the EC2 instance is what is left to try.
func (c Chain) isInstanceRole() bool {
	return aws.IsCredentialsProvider(c.CredentialsProvider, (*ec2rolecreds.Provider)(nil))
}

// NoCredentials is the answer of AWS to a request that has no signature
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/CommonErrors.html).
type NoCredentials struct {
	Cause      error
	NothingSet bool
}

var _ smithy.APIError = (*NoCredentials)(nil)

func (e *NoCredentials) Error() string { return e.ErrorMessage() }

func (e *NoCredentials) Unwrap() error { return e.Cause }

// ErrorCode implements smithy.APIError.
func (e *NoCredentials) ErrorCode() string { return "MissingAuthenticationToken" }

// ErrorMessage implements smithy.APIError.
func (e *NoCredentials) ErrorMessage() string {
	if !e.NothingSet {
		return fmt.Sprintf("no AWS credentials: the source that is configured gives none: %v", e.Cause)
	}
	return "no AWS credentials found in the environment, the AWS configuration files, a web identity token (IRSA), EKS Pod Identity and the role of an EC2 instance; " +
		"give the service account a role by IRSA or EKS Pod Identity, or outside EKS set AWS_PROFILE, after aws sso login if its profile is one of IAM Identity Center"
}

// ErrorFault implements smithy.APIError.
func (e *NoCredentials) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }
