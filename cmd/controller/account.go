package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/cmd/internal/awsconfig"
)

// accountTimeout bounds what credentials and an STS that cannot be reached
// add to a start.
const accountTimeout = 5 * time.Second

// account is the account of the credentials, so that a target group of
// another one is refused by its ARN. It is empty if nobody can tell, and then
// AWS has to refuse.
//
// It makes the first call to AWS, so it tells what keeps all calls from
// working. It does not end the start: the controller says so on the bindings,
// and tries again.
func account(ctx context.Context, s settings, c aws.Config) string {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	logger := log.FromContext(ctx)
	found, err := c.Credentials.Retrieve(ctx)
	if err != nil {
		if missing, ok := errors.AsType[*awsconfig.NoCredentials](err); ok && missing.NothingSet {
			logger = logger.WithValues("cause", missing.Cause.Error()) // the message of all others has it
		}
		logger.Error(err, "every call to AWS will fail")
		return ""
	}
	id, err := callerAccount(ctx, s, c)
	switch host := awsconfig.UnknownHost(err); {
	case host != "":
		logger.Error(err, fmt.Sprintf("there is no host %s: --region %s may be misspelt, or DNS does not answer for AWS", host, s.Region))
	case err != nil && found.AccountID != "" && s.ELBv2Endpoint == "":
		return found.AccountID // as the source of the credentials says
	case err != nil:
		logger.Info("the account of the credentials is unknown, so target group ARNs are not checked for theirs", "reason", err.Error())
	}
	return id
}

// callerAccount asks STS, which needs no permission
// (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html).
func callerAccount(ctx context.Context, s settings, c aws.Config) (string, error) {
	service := sts.NewFromConfig(c)
	if !knowsAccounts(s, service) {
		return "", errors.New("--elbv2-endpoint is set, whose accounts AWS STS may not know; AWS_ENDPOINT_URL_STS can name one that does")
	}
	out, err := service.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", fmt.Errorf("ask AWS STS: %w", err)
	}
	return aws.ToString(out.Account), nil
}
