package elbsim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
)

// Client is the real SDK client, signing as the caller, for a simulator that
// was started. It does not retry, so that a call in a test is one call in the
// journal; options can set another Retryer.
func (s *Simulator) Client(caller string, options ...func(*elbv2.Options)) *elbv2.Client {
	return elbv2.New(elbv2.Options{
		Region:       s.options.Region,
		BaseEndpoint: aws.String(s.url),
		Credentials:  credentials.NewStaticCredentialsProvider(caller, "secret", ""),
		Retryer:      aws.NopRetryer{},
	}, options...)
}
