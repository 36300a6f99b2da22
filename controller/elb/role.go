package elb

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/aws/smithy-go"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/awserror"
)

// Role is an IAM role that calls are made with. The zero value is none: the
// credentials of the controller itself.
type Role struct {
	ARN        string
	ExternalID string // that its trust policy asks for; empty for none
}

// What AWS takes for both parameters
// (https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html).
var (
	roleARN    = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}):role/[\x21-\x7e]+$`)
	externalID = regexp.MustCompile(`^[\w+=,.@:/-]+$`)
)

// Validate says what AWS would not take.
func (r Role) Validate() error {
	switch {
	case r.ARN != "" && (len(r.ARN) > 2048 || !roleARN.MatchString(r.ARN)):
		return fmt.Errorf("spec.iamRoleArnToAssume: %q is not the ARN of an IAM role, such as arn:aws:iam::123456789012:role/targets; correct it", r.ARN)
	case r.ARN != "" && r.ExternalID != "" && (len(r.ExternalID) < 2 || len(r.ExternalID) > 1224 || !externalID.MatchString(r.ExternalID)):
		return errors.New("spec.assumeRoleExternalId has to be 2 to 1224 letters, digits or characters of _+=,.@:/- ; correct it")
	}
	return nil
}

// Account is that of the role, and so of all groups that it can be used for.
func (r Role) Account() string {
	if parts := roleARN.FindStringSubmatch(r.ARN); parts != nil {
		return parts[1]
	}
	return ""
}

// RoleError says that the role was not assumed, and so that the call was not
// sent.
type RoleError struct {
	Role  Role
	Cause error
}

// Error tells what to do. AWS answers AccessDenied whether the role does not
// exist, its trust policy does not name the caller or asks for another
// external ID, or the caller may not call AssumeRole.
func (e *RoleError) Error() string {
	advice := "check the network path to AWS STS in this region: a VPC without a way to the internet needs an interface endpoint for it"
	var answer smithy.APIError
	switch {
	case errors.Is(e.class(), ownership.ErrGroupThrottled):
		advice = "AWS STS asks for fewer calls"
	case errors.As(e.Cause, &answer) && answer.ErrorCode() == "MissingAuthenticationToken":
		advice = "the controller itself has no credentials"
	case errors.Is(e.class(), ownership.ErrGroupForbidden):
		advice = "the role has to exist, its trust policy has to name the controller's role and the external ID of spec.assumeRoleExternalId if it asks for one, and the controller's role has to be allowed sts:AssumeRole on it"
	}
	return fmt.Sprintf("role %s cannot be assumed: %s; %s", e.Role.ARN, awserror.Text(e.Cause), advice)
}

func (e *RoleError) Unwrap() error { return e.Cause }

// class is that of a refusal, if AWS answered at all: what AWS STS refuses for
// its parameters is no fault of any target.
func (e *RoleError) class() error {
	switch f := classify(e.Cause); {
	case errors.Is(f.class, ownership.ErrGroupThrottled), errors.Is(f.class, ownership.ErrGroupForbidden):
		return f.class
	case errors.Is(f.class, ownership.ErrInvalidTarget):
		return ownership.ErrGroupForbidden
	default:
		return ownership.ErrGroupUnavailable
	}
}
