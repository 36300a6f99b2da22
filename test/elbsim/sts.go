package elbsim

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// Role is an IAM role of some account, which every caller may assume that its
// trust policy lets. Calls with its credentials reach the groups of its account
// and no others. In the journal their caller is the ARN of the role.
type Role struct {
	// ARN names the account: arn:aws:iam::210987654321:role/targets.
	ARN string
	// ExternalID is the one that the trust policy asks for; empty for none.
	ExternalID string
	// Denied roles have a trust policy that names nobody.
	Denied bool
	// Lasts is how long its sessions are, if shorter than what the caller asks.
	Lasts time.Duration
	// Said is how long they are said to be; as long as they are if zero.
	Said time.Duration
}

// session is what an access key of a role stands for.
type session struct {
	role string
	ends time.Time
}

// SetRole makes a role, or changes it. Sessions that there are go on.
func (s *Simulator) SetRole(r Role) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account.roles[r.ARN] = r
}

// EndSessions ends all sessions of roles, before the time that callers know.
func (s *Simulator) EndSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, session := range s.account.sessions {
		session.ends = time.Time{}
		s.account.sessions[key] = session
	}
}

// CreateGroupIn is CreateGroup in another account.
func (s *Simulator) CreateGroupIn(account string, g Group) (Group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	other := s.account
	other.id = account
	created, err := other.createGroup(g)
	if err != nil {
		return Group{}, fmt.Errorf("create target group %q in account %s: %w", g.Name, account, err)
	}
	return created, nil
}

// STS is the SDK client of AWS STS, which the simulator answers too, signing as
// the caller.
func (s *Simulator) STS(caller string, options ...func(*sts.Options)) *sts.Client {
	return sts.New(sts.Options{
		Region:       s.options.Region,
		BaseEndpoint: aws.String(s.url),
		Credentials:  credentials.NewStaticCredentialsProvider(caller, "secret", ""),
		Retryer:      aws.NopRetryer{},
	}, options...)
}

// owns reports whether the group is one of the account. AWS answers about
// others as it does about those that do not exist; where it would answer
// AccessDenied, that does less harm.
func (a *account) owns(arn string) bool { return strings.Contains(arn, ":"+a.id+":") }

// callerOf is the role of a session, or the caller himself.
func (a *account) callerOf(key string) string {
	if s, found := a.sessions[key]; found {
		return s.role
	}
	return key
}

// seenBy is the account as a caller sees it: his own.
func (a *account) seenBy(key string, now time.Time) (*account, *Error) {
	s, found := a.sessions[key]
	if !found {
		return a, nil
	}
	if !now.Before(s.ends) {
		return nil, &Error{403, "ExpiredToken", "The security token included in the request is expired"}
	}
	other := *a
	other.id = accountOf(s.role)
	return &other, nil
}

func accountOf(arn string) string { return strings.Split(arn, ":")[4] }

// keyField is beside the parameters of a call the access key ID of its
// signature.
const keyField = "elbsim.AccessKeyID"

// assumeRole refuses a role that does not exist as one that the caller may not
// assume, as AWS does (API reference, AssumeRole).
func assumeRole(a *account, f form, now time.Time) (any, *Error) {
	arn, caller := f.Get("RoleArn"), a.callerOf(f.Get(keyField))
	if id := f.Get("ExternalId"); f.Has("ExternalId") && len(id) < 2 {
		return nil, validationError("1 validation error detected: Value '%s' at 'externalId' failed to satisfy constraint: Member must have length greater than or equal to 2", id)
	}
	role, found := a.roles[arn]
	if !found || role.Denied || role.ExternalID != "" && role.ExternalID != f.Get("ExternalId") {
		return nil, &Error{403, "AccessDenied", fmt.Sprintf("User: arn:aws:iam::%s:user/%s is not authorized to perform: sts:AssumeRole on resource: %s", a.id, caller, arn)}
	}
	lasts := time.Duration(f.number("DurationSeconds")) * time.Second
	if role.Lasts > 0 {
		lasts = min(lasts, role.Lasts)
	}
	key := fmt.Sprintf("ASIA%016X", a.random.Uint64())
	a.sessions[key] = session{arn, now.Add(lasts)}
	said := role.Said
	setDefault(&said, lasts)

	name := arn[strings.LastIndex(arn, "/")+1:]
	var result struct {
		AssumedRoleUser struct{ Arn, AssumedRoleId string }
		Credentials     struct{ AccessKeyId, SecretAccessKey, SessionToken, Expiration string }
	}
	result.AssumedRoleUser.Arn = fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", accountOf(arn), name, f.Get("RoleSessionName"))
	result.AssumedRoleUser.AssumedRoleId = "AROA0123456789ABCDEF:" + f.Get("RoleSessionName")
	result.Credentials.AccessKeyId, result.Credentials.SecretAccessKey, result.Credentials.SessionToken = key, "secret", "token"
	result.Credentials.Expiration = now.Add(said).UTC().Format(time.RFC3339)
	return result, nil
}

func getCallerIdentity(a *account, f form, _ time.Time) (any, *Error) {
	return struct{ Account, Arn, UserId string }{a.id, fmt.Sprintf("arn:aws:iam::%s:user/%s", a.id, a.callerOf(f.Get(keyField))), "AIDA0123456789ABCDEF"}, nil
}
