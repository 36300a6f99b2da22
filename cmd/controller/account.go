package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// accountTimeout bounds what an STS that cannot be reached adds to a start.
const accountTimeout = 5 * time.Second

// account is the account of the credentials, so that a target group of
// another one is refused by its ARN. It is empty if nobody can tell, and then
// AWS has to refuse.
func account(ctx context.Context, s settings, c aws.Config) string {
	id, err := callerAccount(ctx, s, c)
	if err != nil {
		log.FromContext(ctx).Info("the account of the credentials is unknown, so target group ARNs are not checked for theirs", "reason", err.Error())
	}
	return id
}

// callerAccount asks STS, which needs no permission
// (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html).
func callerAccount(ctx context.Context, s settings, c aws.Config) (string, error) {
	if s.elbv2Endpoint != "" {
		return "", errors.New("--elbv2-endpoint is set, whose accounts AWS STS may not know")
	}
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	out, err := sts.NewFromConfig(c).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", fmt.Errorf("ask AWS STS: %w", err)
	}
	return aws.ToString(out.Account), nil
}
