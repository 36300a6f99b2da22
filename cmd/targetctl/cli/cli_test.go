package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/cmd/targetctl/doctor"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/memory"
)

const arn ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// fakeGroups is one target group, blue.
type fakeGroups map[ownership.Target]elb.State

func (f fakeGroups) Group(_ context.Context, ref elb.GroupRef) (elb.Group, error) {
	switch {
	case strings.Contains(ref.Name, ":"):
		return elb.Group{}, elb.ErrGroupInvalid
	case ref.Name != "blue":
		return elb.Group{}, ownership.ErrGroupMissing
	}
	return elb.Group{ARN: arn, Name: "blue"}, nil
}

func (f fakeGroups) Register(_ context.Context, a ownership.Admission) ownership.Result {
	for _, t := range a.Targets() {
		f[t] = elb.Initial
	}
	return ownership.Result{Done: a.Targets()}
}

func (f fakeGroups) Deregister(_ context.Context, r ownership.Removal) ownership.Result {
	for _, t := range r.Targets() {
		delete(f, t)
	}
	return ownership.Result{Done: r.Targets()}
}

func (f fakeGroups) Health(context.Context, ownership.GroupARN) (map[ownership.Target]elb.State, error) {
	return f, nil
}

// bench is a table with two clusters that share a group.
type bench struct {
	*WithT
	table   *memory.Table
	health  fakeGroups
	examine func(context.Context, doctor.Scope) (doctor.Report, error)
	tables  map[string]error // what is wrong with each
}

func newBench(t *testing.T) *bench {
	b := &bench{WithT: NewWithT(t), table: memory.New(), health: fakeGroups{
		"10.0.0.1:80": elb.Healthy, "10.0.0.2:80": elb.Unhealthy, "10.9.9.9:80": elb.Healthy,
	}}
	b.tables = map[string]error{"target-ownership": nil, "other": ownership.ErrTableMissing, "new": ownership.ErrTableCreating, "strange": errors.New("other keys")}
	for id, seen := range map[string]time.Duration{"east": 5 * time.Second, "west": 3 * time.Hour} {
		b.Expect(b.table.PutCluster(t.Context(), ownership.Cluster{
			ID: id, Fingerprint: "uid-" + id, State: ownership.ClusterActive, HeartbeatSeq: 7, HeartbeatAt: now.Add(-seen),
			Revision: ownership.Revision{Version: 1, WriteID: id}, ControllerVersion: "v1.2.3",
		}, ownership.Revision{})).To(Succeed())
	}
	b.record(t, "east", []ownership.Target{"10.0.0.1:80", "10.0.0.3:80"}, nil)
	b.record(t, "west", []ownership.Target{"10.0.0.1:80"}, []ownership.Target{"10.0.0.2:80"})
	return b
}

func (b *bench) record(t *testing.T, cluster string, held, releasing []ownership.Target) {
	r := ownership.Record{
		Group: arn, Owner: ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}, BindingUID: "uid",
		Revision: ownership.Revision{Version: 1, WriteID: cluster}, UpdatedAt: now.Add(-time.Minute),
	}.Clone()
	for _, target := range held {
		r.Held[target] = now.Add(-10 * time.Minute)
	}
	for _, target := range releasing {
		r.Releasing[target] = now.Add(-2 * time.Hour)
	}
	b.Expect(b.table.Put(t.Context(), r, ownership.Revision{})).To(Succeed())
}

// run is one run of the command.
func (b *bench) run(line ...string) (code int, stdout, stderr string) { return b.answer("", line...) }

// answer is one run of the command with something to read.
func (b *bench) answer(stdin string, line ...string) (code int, stdout, stderr string) {
	return b.reading(strings.NewReader(stdin), line...)
}

func (b *bench) reading(stdin io.Reader, line ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	a := &app{
		Streams: Streams{In: stdin, Out: &out, Err: &errs},
		connect: func(_ context.Context, s awsconfig.Site, _ roles) (*site, error) {
			return &site{
				region: "eu-west-1", table: b.table, history: b.table, groups: b.health, examine: b.examine,
				verify: func(context.Context) error { return b.tables[s.Table] },
				create: func(context.Context) error { b.tables[s.Table] = nil; return nil },
			}, nil
		},
		now: func() time.Time { return now },
	}
	code = a.run(context.Background(), "v1.2.3", append([]string{"targetctl"}, line...))
	return code, out.String(), errs.String()
}

func TestForPeople(t *testing.T) {
	for line, want := range map[string]string{
		"clusters": `
CLUSTER   STATE    VERSION   HEARTBEAT   WATCHED
east      Active   v1.2.3    5s          -
west      Active   v1.2.3    3h          -
`,
		"cluster show west": `
Cluster:       west
State:         Active
Version:       v1.2.3
Fingerprint:   uid-west
Heartbeat:     7, 3h ago by the clocks
Watched:       -

TARGET GROUP   OWNER           HELD   RELEASING   WRITTEN
blue           west/shop/web   1      1           60s
`,
		"owners blue": `
OWNER           CLUSTER STATE   HEARTBEAT   HELD   HEALTHY   RELEASING
east/shop/web   Active          5s          2      1         0
west/shop/web   Active          3h          1      1         1

TARGET        HEALTH           ENTRY       SINCE   OWNER
10.0.0.1:80   healthy          held        10m     east/shop/web
10.0.0.3:80   not registered   held        10m     east/shop/web
10.0.0.1:80   healthy          held        10m     west/shop/web
10.0.0.2:80   unhealthy        releasing   120m    west/shop/web
10.9.9.9:80   healthy          -           -       external: no record names it
`,
		"explain blue 10.0.0.1:80": `
10.0.0.1:80 in blue: healthy

east/shop/web: held for 10m, cluster Active, heartbeat 5s ago
  if it still wants the target: keep (registered)
  if it lets the target go: drop (another owner holds it)

west/shop/web: held for 10m, cluster Active, heartbeat 3h ago
  if it still wants the target: keep (registered)
  if it lets the target go: drop (another owner holds it)
`,
		"explain blue 10.9.9.9:80": `
10.9.9.9:80 in blue: healthy

no record names it
  if a binding shares the group: ignore (no record of ours names it)
  if a binding has the group for itself: release (nobody recorded it and the binding is exclusive)
`,
	} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(now))
				b := newBench(t)
				code, out, errs := b.run(strings.Fields(line)...)
				b.Expect(code).To(Equal(exitOK), errs)
				if diff := cmp.Diff(want, "\n"+out); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A target that has just left is nobody's, and no stranger.
func TestTargetsThatHaveLeft(t *testing.T) {
	b := newBench(t)
	b.health["10.0.0.7:80"] = elb.Draining
	_, out, _ := b.run("owners", "blue")
	b.Expect(out).To(ContainSubstring("10.0.0.7:80   draining         -           -       leaving: connections end (targetctl history tells who took it out)\n"))
	b.Expect(out).To(ContainSubstring("10.9.9.9:80   healthy          -           -       external: no record names it\n"))
	_, out, _ = b.run("explain", "blue", "10.0.0.7:80")
	b.Expect(out).To(Equal("10.0.0.7:80 in blue: draining\n\nit leaves: no record names it any more, and its connections end\n" +
		"  targetctl history blue 10.0.0.7:80 tells who took it out\n"))
	// One that a record names is that owner's.
	b.health["10.0.0.2:80"] = elb.Draining
	_, out, _ = b.run("explain", "blue", "10.0.0.2:80")
	b.Expect(out).To(ContainSubstring("west/shop/web: releasing"))
	b.Expect(out).NotTo(ContainSubstring("it leaves"))
	_, out, _ = b.run("owners", "blue")
	b.Expect(out).To(MatchRegexp(`10\.0\.0\.2:80 +draining +releasing +\S+ +west/shop/web\n`))
}

// What takes long to read after the entry makes its heartbeat no older.
func TestHeartbeatBesideRecordsThatTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		b := newBench(t)
		b.table.Intercept(func(op memory.Op) memory.Fault {
			if op.Kind == memory.Records {
				time.Sleep(10 * time.Minute)
			}
			return memory.Fault{}
		})
		_, out, _ := b.run("cluster", "show", "east")
		b.Expect(out).To(ContainSubstring("7, 5s ago by the clocks"))
	})
}

// What scripts get is all of the answer, in both formats.
func TestForScripts(t *testing.T) {
	b := newBench(t)
	_, out, _ := b.run("owners", string(arn), "-o", "json")
	var fromJSON, fromYAML admin.Owners
	b.Expect(json.Unmarshal([]byte(out), &fromJSON)).To(Succeed())
	_, out, _ = b.run("owners", string(arn), "-o", "yaml")
	b.Expect(yaml.Unmarshal([]byte(out), &fromYAML)).To(Succeed())
	b.Expect(fromYAML).To(Equal(fromJSON))
	b.Expect(fromJSON.TargetGroup).To(Equal(arn))
	b.Expect(fromJSON.Owners).To(HaveLen(2))
	b.Expect(fromJSON.Owners[1].HeartbeatAt.Equal(now.Add(-3 * time.Hour))).To(BeTrue())
	b.Expect(fromJSON.External).To(Equal([]admin.Target{{Target: "10.9.9.9:80", Health: "healthy"}}))
}

func TestExitCodes(t *testing.T) {
	for line, code := range map[string]int{
		"":                             exitOK,
		"clusters":                     exitOK,
		"--version":                    exitOK,
		"nosuch":                       exitUsage,
		"clusters --nosuch":            exitUsage,
		"clusters more":                exitUsage,
		"clusters -o xml":              exitUsage,
		"cluster nosuch":               exitUsage,
		"explain blue 10.0.0.1":        exitUsage,
		"owners green":                 exitFailure,
		"owners arn:aws:typo":          exitUsage,
		"doctor --cluster a/b":         exitUsage,
		"doctor --group arn:aws:typo":  exitUsage,
		"cluster show north":           exitFailure,
		"completion bash":              exitOK,
		"__complete cluster show -o j": exitOK,
		"completion":                   exitOK,
		"completion tcsh":              exitUsage,
		"completion bash more":         exitUsage,
	} {
		t.Run(line, func(t *testing.T) {
			b := newBench(t)
			got, _, errs := b.run(strings.Fields(line)...)
			b.Expect(got).To(Equal(code), errs)
		})
	}
}

// What cannot be carried out is told in the words of the command's usage.
func TestWordsOfUsageErrors(t *testing.T) {
	for line, want := range map[string]string{
		"owners":                           "GROUP is missing: targetctl owners GROUP [flags]",
		"owners blue red":                  `unexpected argument "red": targetctl owners GROUP [flags]`,
		"explain blue":                     "TARGET is missing: targetctl explain GROUP TARGET [flags]",
		"history":                          "GROUP is missing: targetctl history GROUP [TARGET] [flags]",
		"cluster show":                     "CLUSTER is missing: targetctl cluster show CLUSTER [flags]",
		"cluster retire --yes":             "CLUSTER is missing: targetctl cluster retire CLUSTER [flags]",
		"clusters more":                    `unexpected argument "more": targetctl clusters [flags]`,
		"nosuch":                           `there is no command "nosuch": targetctl --help lists them`,
		"cluster nosuch":                   `there is no command "nosuch": targetctl cluster --help lists them`,
		"owner blue":                       `there is no command "owner": did you mean owners? targetctl --help lists them`,
		"completion zhs":                   `there is no command "zhs": did you mean zsh? targetctl completion --help lists them`,
		"clusters --watch-for -1s":         "--watch-for: -1s is below 0",
		"cluster show a --watch-for=-1s":   "--watch-for: -1s is below 0",
		"doctor --watch-for -1s":           "--watch-for: -1s is below 0",
		"cluster drain west --floor -1":    "--floor: -1 is below 0",
		"cluster drain west --timeout=-1s": "--timeout: -1s is below 0",
		"release":                          "--cluster is missing: the ID of the cluster whose targets are taken out",
		"owners arn:aws:typo":              `GROUP: "arn:aws:typo" is not the ARN or the name of a target group: ` + elb.ErrGroupInvalid.Error(),
		"release --cluster a --group :":    `--group: ":" is not the ARN or the name of a target group: ` + elb.ErrGroupInvalid.Error(),
	} {
		t.Run(line, func(t *testing.T) {
			b := newBench(t)
			code, out, errs := b.run(strings.Fields(line)...)
			b.Expect(code).To(Equal(exitUsage))
			b.Expect(out).To(BeEmpty())
			b.Expect(errs).To(Equal("targetctl: " + want + "\n--help tells what can be given\n"))
		})
	}
}

// A group that there is not, or that cannot be looked up, is no matter of how
// it was written.
func TestGroupsThatCannotBeLookedUp(t *testing.T) {
	b := newBench(t)
	code, _, errs := b.run("owners", "green")
	b.Expect(code).To(Equal(exitFailure))
	b.Expect(errs).To(Equal("targetctl: " + ownership.ErrGroupMissing.Error() + "; it was looked for in eu-west-1, and --region names another region\n"))
}

// A group of another region is told with the flag, by every command alike.
func TestGroupsOfAnotherRegion(t *testing.T) {
	const away = "arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/blue/0123456789abcdef"
	for _, line := range []string{"owners GROUP", "explain GROUP 10.0.0.1:80", "history GROUP", "release --yes --cluster west --group GROUP", "doctor --group GROUP"} {
		b := newBench(t)
		code, _, errs := b.run(strings.Fields(strings.ReplaceAll(line, "GROUP", away))...)
		b.Expect(code).To(Equal(exitUsage))
		b.Expect(errs).To(ContainSubstring(": "+away+" is in region us-east-1, not in eu-west-1: give --region us-east-1\n"), line)
	}
}

// An ID that is misspelt leads to those that there are.
func TestClustersThatThereAreNot(t *testing.T) {
	for _, line := range []string{"cluster show north", "cluster drain north", "cluster undrain north", "cluster retire north", "release --cluster north"} {
		b := newBench(t)
		code, _, errs := b.run(strings.Fields(line)...)
		b.Expect(code).To(Equal(exitFailure))
		b.Expect(errs).To(HaveSuffix("; targetctl clusters lists those that there are\n"))
	}
}

// A shell offers files where a file can be given, and nowhere else; to complete
// takes no call.
func TestCompletion(t *testing.T) {
	for line, directive := range map[string]string{
		"owners |":                   "ShellCompDirectiveNoFileComp",
		"cluster drain |":            "ShellCompDirectiveNoFileComp",
		"explain blue |":             "ShellCompDirectiveNoFileComp",
		"release --cluster |":        "ShellCompDirectiveNoFileComp",
		"migrate lbc --kubeconfig |": "ShellCompDirectiveDefault",
	} {
		b := newBench(t)
		b.table.Intercept(func(op memory.Op) memory.Fault { t.Errorf("%s made a call: %s", line, op.Kind); return memory.Fault{} })
		args := append([]string{"__complete"}, strings.Fields(line)...)
		args[len(args)-1] = ""
		code, out, errs := b.run(args...)
		b.Expect(code).To(Equal(exitOK))
		b.Expect(out).To(HavePrefix(":"), line)
		b.Expect(errs).To(ContainSubstring("Completion ended with directive: "+directive+"\n"), line)
	}
}

// Whoever has no credentials on their own machine is told where they come from.
func TestWithoutCredentials(t *testing.T) {
	for _, c := range []struct {
		missing awsconfig.NoCredentials
		want    []string
	}{
		{awsconfig.NoCredentials{NothingSet: true}, []string{"no AWS credentials found: set AWS_PROFILE", "aws sso login", "AWS_ACCESS_KEY_ID"}},
		{awsconfig.NoCredentials{Cause: errors.New("token has expired")}, []string{"gives none: token has expired; aws sso login", "AWS_PROFILE"}},
	} {
		b := newBench(t)
		b.table.Intercept(func(memory.Op) memory.Fault { return memory.Refuse(errors.Join(ownership.ErrForbidden, &c.missing)) })
		code, _, errs := b.run("clusters")
		b.Expect(code).To(Equal(exitFailure))
		for _, words := range c.want {
			b.Expect(errs).To(ContainSubstring(words))
		}
		b.Expect(errs).NotTo(Or(ContainSubstring("denied"), ContainSubstring("IRSA")))
	}
}

func TestUnreachableTable(t *testing.T) {
	b := newBench(t)
	b.table.Intercept(func(memory.Op) memory.Fault { return memory.Refuse(errors.Join(ownership.ErrForbidden)) })
	code, out, errs := b.run("clusters")
	b.Expect(code).To(Equal(exitFailure))
	b.Expect(out).To(BeEmpty())
	b.Expect(errs).To(ContainSubstring("access to the table is denied"))
}

func TestNameOfThePlugin(t *testing.T) {
	b := newBench(t)
	var out bytes.Buffer
	a := &app{Streams: Streams{Out: &out, Err: &out}}
	b.Expect(a.run(t.Context(), "v1", []string{"/usr/local/bin/kubectl-targetctl", "owners", "--help"})).To(Equal(exitOK))
	b.Expect(out.String()).To(ContainSubstring("kubectl targetctl owners GROUP"))
}
