// Package audit tests that the answers of docs/audit.md are answers: its
// commands run against a table with something to find.
package audit

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/cmd/targetctl/cli"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/test/table"
)

const (
	page   = "../../docs/audit.md"
	group  = ownership.GroupARN("arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/73e2d6bc24d8a067")
	target = ownership.Target("10.0.1.5:8080")
)

// question is a section of the page.
type question struct {
	title    string
	text     string
	commands []string
}

func questions(t *testing.T) map[string]question {
	t.Helper()
	text, err := os.ReadFile(page)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	all := map[string]question{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		q := question{title: title, text: body}
		for _, block := range regexp.MustCompile("(?s)```bash\n(.*?)```").FindAllStringSubmatch(body, -1) {
			q.commands = append(q.commands, block[1])
		}
		if strings.HasSuffix(title, "?") {
			all[title] = q
		}
	}
	return all
}

// words has a shell read the command, and returns what the program would get.
func words(t *testing.T, command string) []string {
	t.Helper()
	program, _, _ := strings.Cut(command, " ")
	shell := exec.CommandContext(t.Context(), "bash", "-euc", program+`() { printf '%s\0' "$@"; }; `+command)
	shell.Env = append(os.Environ(), "TABLE=ownership", "GROUP="+string(group), "TARGET="+string(target), "CLUSTER=east", "DAY=2026-03-01")
	out, err := shell.Output()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), command)
	return append([]string{program}, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")...)
}

// query is the call that "aws dynamodb query" makes of its options.
func query(t *testing.T, args []string) *dynamodb.QueryInput {
	t.Helper()
	g := NewWithT(t)
	in := &dynamodb.QueryInput{}
	texts := map[string]**string{
		"--key-condition-expression": &in.KeyConditionExpression, "--filter-expression": &in.FilterExpression,
		"--projection-expression": &in.ProjectionExpression, "--index-name": &in.IndexName, "--table-name": &in.TableName,
	}
	for i := 0; i < len(args); i++ {
		switch name := args[i]; name {
		case "--consistent-read":
			in.ConsistentRead = aws.Bool(true)
		case "--no-scan-index-forward":
			in.ScanIndexForward = aws.Bool(false)
		case "--expression-attribute-names":
			i++
			g.Expect(json.Unmarshal([]byte(args[i]), &in.ExpressionAttributeNames)).To(Succeed(), args[i])
		case "--expression-attribute-values":
			i++
			var values map[string]struct{ S string }
			g.Expect(json.Unmarshal([]byte(args[i]), &values)).To(Succeed(), args[i])
			in.ExpressionAttributeValues = map[string]types.AttributeValue{}
			for key, v := range values {
				in.ExpressionAttributeValues[key] = &types.AttributeValueMemberS{Value: v.S}
			}
		default:
			g.Expect(texts).To(HaveKey(name), "an option that the test does not know")
			i++
			*texts[name] = &args[i]
		}
	}
	return in
}

// plant fills the table with what the questions ask for, and with what their
// answers have to leave out.
func plant(t *testing.T) *table.Table {
	t.Helper()
	g := NewWithT(t)
	in := table.Dynalite.Start(t) // kumo takes the dots in a target for those of a path
	store := dynamo.New(in.Client, in.Name, dynamo.Options{})
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for cluster, holds := range map[string]ownership.Target{"east": target, "west": "10.0.9.9:8080"} {
		g.Expect(store.Put(t.Context(), ownership.Record{
			Group: group, Owner: ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}, BindingUID: "uid",
			Held: map[ownership.Target]time.Time{holds: now}, Revision: ownership.Revision{Version: 1, WriteID: "w"},
		}, ownership.Revision{})).To(Succeed())
		g.Expect(store.PutCluster(t.Context(), ownership.Cluster{
			ID: cluster, Fingerprint: cluster, State: ownership.ClusterActive, HeartbeatSeq: 1, HeartbeatAt: now,
			Revision: ownership.Revision{Version: 1, WriteID: "w"},
		}, ownership.Revision{})).To(Succeed())
	}
	for i, e := range []struct {
		cluster string
		what    history.What
		target  ownership.Target
		days    int
	}{
		{"east", history.Deregistered, target, 0},
		{"east", history.Deregistered, "10.0.9.9:8080", 0}, // another target
		{"east", history.Registered, target, 0},
		{"west", history.Kept, target, 0},
		{"west", history.GaveUp, "10.0.9.9:8080", 0},
		{"east", history.Claimed, target, 1}, // another day
	} {
		g.Expect(store.Record(t.Context(), history.Entry{
			Group: group, Time: now.AddDate(0, 0, e.days).Add(time.Duration(i) * time.Second), ID: "id",
			Cluster: e.cluster, Binding: "shop/web", By: "controller test",
			Events: []history.Event{{What: e.what, Reason: "because", Targets: []ownership.Target{e.target}}},
		})).To(Succeed())
	}
	return in
}

// answers are the range keys that the commands of each question find.
var answers = map[string][]string{
	"Who owns a target?":                           {"east/shop/web"},
	"Who took a target out, when, and why?":        {"2026-03-01T12:00:00.000000000Z#id"},
	"Why was a target not taken out?":              {"2026-03-01T12:00:03.000000000Z#id"},
	"What did a cluster do on one day?":            {"2026-03-01T12:00:00.000000000Z#id", "2026-03-01T12:00:01.000000000Z#id", "2026-03-01T12:00:02.000000000Z#id"},
	"In which groups does a cluster have targets?": {"east/shop/web"},
	"Which targets does nobody own?":               {"east/shop/web", "west/shop/web"},
	"Which clusters are silent?":                   {"east", "west"},
	"Which targets were given up?":                 {"2026-03-01T12:00:04.000000000Z#id"},
}

func TestEachQuestionIsAnsweredThreeWays(t *testing.T) {
	for title, q := range questions(t) {
		for _, way := range []string{"**Console.**", "**AWS CLI.**", "**targetctl.**"} {
			NewWithT(t).Expect(q.text).To(ContainSubstring(way), title)
		}
	}
}

// The commands of the page, as a shell reads them, find what they are for.
func TestTheQueriesFindWhatTheyAreFor(t *testing.T) {
	in, asked := plant(t), []string{}
	for title, q := range questions(t) {
		t.Run(title, func(t *testing.T) {
			g := NewWithT(t)
			for _, command := range q.commands {
				args := words(t, command)
				if len(args) < 3 || args[0] != "aws" || args[1] != "dynamodb" {
					continue
				}
				g.Expect(args[2]).To(Equal("query"))
				input := query(t, args[3:])
				input.TableName = &in.Name
				out, err := in.Client.Query(t.Context(), input)
				g.Expect(err).NotTo(HaveOccurred(), command)
				var found []string
				for _, item := range out.Items {
					found = append(found, item[dynamo.AttrOwner].(*types.AttributeValueMemberS).Value)
				}
				g.Expect(found).To(ConsistOf(answers[title]), command)
				asked = append(asked, title)
			}
		})
	}
	NewWithT(t).Expect(slices.Compact(slices.Sorted(slices.Values(asked)))).To(HaveLen(len(answers)))
}

// Every attribute that the page names is one of the code's.
func TestThePageNamesTheAttributesOfHistory(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile(page)
	g.Expect(err).NotTo(HaveOccurred())
	for _, kind := range history.Kinds {
		g.Expect(string(text)).To(ContainSubstring("`" + string(kind) + "`"))
	}
	for _, attribute := range []string{
		dynamo.AttrCluster, dynamo.AttrBinding, dynamo.AttrBy, dynamo.AttrEvents, dynamo.AttrExpiresAt,
		dynamo.AttrWhat, dynamo.AttrReason, dynamo.AttrTargets, dynamo.AttrOthers, dynamo.AttrMore,
	} {
		g.Expect(string(text)).To(ContainSubstring("`" + attribute + "`"))
	}
	g.Expect(string(text)).To(ContainSubstring("`" + dynamo.HistoryPrefix + "`"))
}

// The targetctl calls are of commands and flags that there are.
func TestTheTargetctlCalls(t *testing.T) {
	calls := 0
	for _, q := range questions(t) {
		for _, command := range q.commands {
			args := words(t, command)
			if args[0] != "targetctl" {
				continue
			}
			calls++
			g := NewWithT(t)
			found, rest, err := cli.Command().Find(args[1:])
			g.Expect(err).NotTo(HaveOccurred(), command)
			g.Expect(found.Runnable() && found.HasParent()).To(BeTrue(), command)
			g.Expect(found.ParseFlags(rest)).To(Succeed(), command)
			g.Expect(found.ValidateArgs(found.Flags().Args())).To(Succeed(), command)
		}
	}
	NewWithT(t).Expect(calls).To(BeNumerically(">=", len(answers)))
}
