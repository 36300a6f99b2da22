package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// limit bounds all scenes together. It is several times what a busy 2-core
// machine needs.
const limit = 8 * time.Minute

// ErrInterrupted says that the caller's context ended before the demo did.
var ErrInterrupted = errors.New("interrupted")

// Options of a demo.
type Options struct {
	Out   io.Writer
	Color bool
	// Keep leaves everything running after the scene with the crash, or after
	// a failure, until the context ends. The scene in which a cluster is
	// deleted is not played.
	Keep bool
	// DynamoDBEndpoint is the URL of a DynamoDB engine that takes any
	// credentials. Empty: an engine in this process.
	DynamoDBEndpoint string
	// Bin is the folder with the programs that `make tools build` has built,
	// Charts the folder of the repository that holds the CRD's chart.
	Bin, Charts string
}

// scene is one part of the story.
type scene struct {
	title string
	play  func(*stage, context.Context) error
}

var scenes = []scene{
	{"Two clusters, one target group, one ownership table", (*stage).start},
	{"Each cluster binds its Service to the group", (*stage).bind},
	{"Rolling restart in both clusters at once", (*stage).roll},
	{"A pod address moves from east to west, and east is late to notice", (*stage).move},
	{"east's controller is killed half-way", (*stage).crash},
	{"Cluster east is deleted", (*stage).lose},
}

// keepBefore is the scene that Keep stops at: the only one after which there
// is less to look at.
const keepBefore = 5

// Run plays all scenes, stops everything that it started, and prints how it
// came out. The error is [ErrInterrupted], the failed check, or what kept it
// from being checked. With Keep, the end of the context while everything
// stays up is no interruption.
func Run(ctx context.Context, options Options) error {
	return newStage(options).run(ctx)
}

func (s *stage) run(ctx context.Context) error {
	err := s.playAll(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		err = ErrInterrupted
	case err != nil:
		s.screen.logs(s.logTails())
		s.screen.trouble(err)
	}
	if s.options.Keep && ctx.Err() == nil {
		s.keep()
		<-ctx.Done()
	}
	return s.end(err, s.close())
}

// end prints how it came out. Something left running is a failure too.
func (s *stage) end(err, closing error) error {
	if closing != nil {
		s.screen.trouble(closing)
	}
	passed := s.checks.passed()
	switch {
	case err == nil && closing == nil && s.options.Keep:
		s.screen.last("demo: %d checks passed; the last scene was not played", passed)
	case err == nil && closing == nil:
		s.screen.last("demo: all checks passed (%d)", passed)
	case errors.Is(err, ErrInterrupted) && closing == nil:
		s.screen.last("demo: interrupted after %d checks", passed)
	default:
		s.screen.last("demo: failed after %d checks", passed)
	}
	return errors.Join(err, closing)
}

func (s *stage) playAll(ctx context.Context) error {
	bounded, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo took longer than %s", limit))
	defer cancel()
	s.screen.say("%d scenes on this machine, loopback only. They take about two minutes, one of them the settle time of scene 4.", len(s.scenes))
	for i, scene := range s.scenes {
		if s.options.Keep && i == keepBefore {
			return nil
		}
		s.screen.heading(i, scene.title)
		if err := scene.play(s, bounded); err != nil {
			return fmt.Errorf("scene %d: %w", i, err)
		}
	}
	return s.summary(bounded)
}
