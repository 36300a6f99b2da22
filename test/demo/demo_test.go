package demo

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// ctrlC is a screen whose reader presses Ctrl-C when it says so.
type ctrlC struct {
	strings.Builder
	at    string
	press context.CancelFunc
}

func (c *ctrlC) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.at) {
		c.press()
	}
	return c.Builder.Write(p)
}

// played runs one made-up scene and scenes without content up to the last.
func played(t *testing.T, keep bool, ctrlCAt string, only func(*stage, context.Context) error) (said string, err error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &ctrlC{at: ctrlCAt, press: cancel}
	s := newStage(Options{Out: out, Keep: keep})
	s.scenes = make([]scene, keepBefore+1)
	for i := range s.scenes {
		s.scenes[i] = scene{"A scene", func(*stage, context.Context) error { return nil }}
	}
	s.scenes[1].play = only
	s.scenes[keepBefore] = scene{"The last", func(s *stage, ctx context.Context) error { return errors.New("played") }}
	err = s.run(ctx)
	return strings.TrimSpace(out.String()), err
}

func passes(s *stage, _ context.Context) error { return s.verify(expect("one", nil)) }
func fails(s *stage, _ context.Context) error {
	return s.verify(expect("one", nil), expect("two", errors.New("it is not")))
}

func TestKeepStaysUpUntilCtrlC(t *testing.T) {
	for name, tt := range map[string]struct {
		scene func(*stage, context.Context) error
		last  string
		fails bool
	}{
		"all checks passed": {passes, "demo: 1 checks passed; the last scene was not played", false},
		"a check failed":    {fails, "demo: failed after 1 checks", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			said, err := played(t, true, "Everything that runs stays up", tt.scene)
			g.Expect(said).To(And(ContainSubstring("Everything that runs stays up"), HaveSuffix("\n"+tt.last)))
			if tt.fails {
				g.Expect(err).To(MatchError(ContainSubstring("check failed: two")))
				g.Expect(err).NotTo(MatchError(ErrInterrupted))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
		})
	}
}

// Nothing is left to look at when Ctrl-C has already been pressed.
func TestCtrlCBeforeTheEnd(t *testing.T) {
	for _, keep := range []bool{false, true} {
		g := NewWithT(t)
		said, err := played(t, keep, "A scene", func(s *stage, ctx context.Context) error { return ctx.Err() })
		g.Expect(err).To(MatchError(ErrInterrupted))
		g.Expect(said).NotTo(ContainSubstring("stays up"))
		g.Expect(said).To(HaveSuffix("\ndemo: interrupted after 0 checks"))
	}
}

func TestKeptCommandsAreComplete(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	s := newStage(Options{Out: &out})
	s.printAWS("dynamodb list-tables")
	g.Expect(strings.Join(strings.Fields(out.String()), " ")).To(Equal(
		`AWS_ACCESS_KEY_ID=demo AWS_SECRET_ACCESS_KEY=demo AWS_DEFAULT_REGION=eu-west-1 \ aws dynamodb list-tables`))
}

// The names are those that AWS's SDKs and tools read.
func TestKeptEnvironmentIsComplete(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	s := newStage(Options{Out: &out})
	s.printEnvironment("http://127.0.0.1:1", "http://127.0.0.1:2")
	g.Expect(out.String()).To(And(
		ContainSubstring("export AWS_ACCESS_KEY_ID=demo AWS_SECRET_ACCESS_KEY=demo AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=eu-west-1\n"),
		ContainSubstring("export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1\n"),
		ContainSubstring("export AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2=http://127.0.0.1:2\n"),
	))
}
