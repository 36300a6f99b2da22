package cluster_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/memory"
)

// A person has to find the entry in the table.
func TestMessagesNameTheEntryByItsKey(t *testing.T) {
	g := NewWithT(t)
	key := fmt.Sprintf("%s=%s, %s=blue", dynamo.AttrTargetGroup, dynamo.ClusterKey, dynamo.AttrOwner)
	for _, err := range []error{
		&cluster.DuplicateIDError{ID: "blue"}, &cluster.UnknownStateError{ID: "blue"}, &cluster.UnreadableEntryError{ID: "blue"},
	} {
		g.Expect(err).To(MatchError(ContainSubstring(key)))
	}
}

// What a command does, nobody has to do by hand.
func TestMessagesNameTheCommand(t *testing.T) {
	g := NewWithT(t)
	for command, err := range map[string]error{
		"targetctl cluster undrain blue":           &cluster.RetiredError{ID: "blue"},
		"targetctl cluster retire blue":            &cluster.DuplicateIDError{ID: "blue"},
		"targetctl cluster retire blue:":           &cluster.RenamedError{ID: "green", Earlier: "blue"},
		"targetctl release --cluster blue --force": &cluster.RenamedError{ID: "green", Earlier: "blue"},
	} {
		g.Expect(err).To(MatchError(ContainSubstring(command)))
	}
}

// What to do about the table is in its own error.
func TestAnErrorOfTheTableIsAdvisedOnce(t *testing.T) {
	g := NewWithT(t)
	err := fmt.Errorf("verify: %w: table owners (create it)", ownership.ErrTableMissing)
	g.Expect(&cluster.NotClaimedError{ID: "blue", Err: err}).To(
		MatchError(`cluster ID "blue" cannot be claimed in the ownership table: ` + err.Error()))
}

// logged runs a heartbeat and returns the lines of its log so far.
func logged(t *testing.T, c cluster.HeartbeatConfig) func() []string {
	t.Helper()
	var out bytes.Buffer
	ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(&out)))
	heartbeat := cluster.NewHeartbeat(c)
	go func() { _ = heartbeat.Start(ctx) }()
	synctest.Wait()
	return func() []string {
		var lines []string
		for {
			line, err := out.ReadBytes('\n')
			if err != nil {
				return lines
			}
			var entry struct{ Level, Msg, Error string }
			if err := json.Unmarshal(line, &entry); err != nil {
				t.Fatalf("log line %s: %v", line, err)
			}
			lines = append(lines, entry.Level+": "+entry.Msg+": "+entry.Error)
		}
	}
}

func TestAFailureThatGoesOnIsToldOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		n := 0
		table.Intercept(func(memory.Op) memory.Fault {
			n++
			return memory.Refuse(fmt.Errorf("attempt %d: %w", n, ownership.ErrTableMissing))
		})
		lines := logged(t, config("uid-a", table))
		pass(time.Hour)
		g.Expect(n).To(BeNumerically(">", 100), "attempts")
		got := lines()
		g.Expect(got[0]).To(Equal("error: the cluster ID is not claimed, so nothing is reconciled: " +
			`read the entry of cluster "blue": Cluster: attempt 1: the table does not exist`))
		g.Expect(got[1:]).To(And(HaveLen(5), HaveEach("info: still so: the cluster ID is not claimed, so nothing is reconciled: ")))

		table.Intercept(refuse(ownership.ErrForbidden))
		pass(time.Minute)
		g.Expect(lines()).To(ConsistOf(ContainSubstring("access to the table is denied")), "another cause")

		table.Intercept(nil)
		pass(time.Hour)
		g.Expect(lines()).To(Equal([]string{"info: it works again: "}))
	})
}

func TestARefusalIsToldOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		put(t, table, ownership.Cluster{ID: "blue", Fingerprint: "uid-b", State: ownership.ClusterActive})
		lines := logged(t, config("uid-a", table))
		pass(9 * time.Minute)
		g.Expect(lines()).To(ConsistOf(HavePrefix("error: the registry refuses this cluster")))
	})
}
