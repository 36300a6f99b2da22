package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/cmd/targetctl/doctor"
	"target-ownership-controller/ownership/admin"
)

// finding is one that a test has doctor report.
func finding(severity admin.Severity, check admin.Check) admin.Finding {
	return admin.Finding{Severity: severity, Check: check, Where: "cluster west", What: "no heartbeat", Do: "targetctl cluster retire west"}
}

func TestDoctor(t *testing.T) {
	for name, c := range map[string]struct {
		found []admin.Finding
		err   error
		line  []string
		code  int
		out   string
	}{
		"nothing": {code: exitOK, out: "nothing is wrong with table owners in eu-west-1\n"},
		"an error": {
			found: []admin.Finding{finding(admin.SeverityError, "ClusterSilent")}, code: exitFound,
			out: "ERROR  ClusterSilent: cluster west\n  no heartbeat\n  to do: targetctl cluster retire west\n\ntable owners in eu-west-1: 1 error, 0 warnings, 0 notes\n",
		},
		"a note": {
			found: []admin.Finding{finding(admin.SeverityNote, "ClusterSilent")}, code: exitOK,
			out: "NOTE  ClusterSilent: cluster west\n  no heartbeat\n  to do: targetctl cluster retire west\n\ntable owners in eu-west-1: 0 errors, 0 warnings, 1 note\n",
		},
		"ignored": {
			found: []admin.Finding{finding(admin.SeverityError, "Permission"), finding(admin.SeverityError, "TableTTL")},
			line:  []string{"--ignore", "Permission,TableTTL"}, code: exitOK, out: "nothing is wrong with table owners in eu-west-1\n",
		},
		"nobody answers": {err: errors.New("no route"), code: exitFailure},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.examine = func(context.Context, doctor.Scope) (doctor.Report, error) {
				return doctor.Report{Table: "owners", Region: "eu-west-1", Findings: c.found}, c.err
			}
			code, out, errs := b.run(append([]string{"doctor"}, c.line...)...)
			b.Expect(code).To(Equal(c.code), errs)
			if diff := cmp.Diff(c.out, out); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A script reads the findings and the exit code; nothing else is said.
func TestDoctorForScripts(t *testing.T) {
	b := newBench(t)
	want := doctor.Report{Table: "owners", Region: "eu-west-1", Findings: []admin.Finding{finding(admin.SeverityError, "ClusterSilent")}}
	b.examine = func(context.Context, doctor.Scope) (doctor.Report, error) { return want, nil }
	code, out, errs := b.run("doctor", "-o", "json")
	b.Expect(code).To(Equal(exitFound))
	b.Expect(errs).To(BeEmpty())
	var got doctor.Report
	b.Expect(json.Unmarshal([]byte(out), &got)).To(Succeed())
	b.Expect(got).To(Equal(want))
}

// A check that there is not would leave out nothing, in silence.
func TestChecksThatAreNoChecks(t *testing.T) {
	b := newBench(t)
	code, _, errs := b.run("doctor", "--ignore", "TableTTL,Permision")
	b.Expect(code).To(Equal(exitUsage))
	b.Expect(errs).To(And(ContainSubstring(`--ignore: there is no check "Permision", but TableMissing, `), ContainSubstring(", Permission, "), ContainSubstring("TargetContested")))
}

// A flag of the site that cannot be used is told before any call.
func TestFlagsOfTheSite(t *testing.T) {
	for _, flag := range []string{"--table=ab", "--region=europe", "--dynamodb-endpoint=localhost:8000", "--elbv2-endpoint=ftp://localhost"} {
		b := newBench(t)
		code, _, errs := b.run("clusters", flag)
		b.Expect(code).To(Equal(exitUsage))
		name, _, _ := strings.Cut(flag, "=")
		b.Expect(errs).To(HavePrefix("targetctl: " + name + ": "))
	}
}
