package model

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// memoryLimit bounds one search, in MB: two of them run at a time.
	memoryLimit = 1900
	// timeLimit bounds one search; the longest takes a minute, and eight on a
	// machine that is busy with something else.
	timeLimit = 20 * time.Minute
	// depthLimit is in steps. Only a search for cycles goes into depth.
	depthLimit = 2_000_000
)

// search is one run of pan in a folder of its own.
type search struct {
	spin   string   // the program
	model  string   // ownership.pml
	macros []string // NAME or NAME=value
	live   bool
	small  bool // it ends soon, so that to compile it takes longest
}

// found is what a search ended with.
type found struct {
	outcome
	breaks Promise  // empty if nothing is broken
	story  []string // how
	took   time.Duration
}

// run generates pan, compiles it and runs it. Errors are those of the
// programs, and of a search that was not complete.
func (s search) run(ctx context.Context) (found, error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	dir, err := os.MkdirTemp("", "protocol-model-")
	if err != nil {
		return found{}, err
	}
	defer os.RemoveAll(dir)
	if err := s.build(ctx, dir); err != nil {
		return found{}, err
	}
	begun := time.Now()
	output, err := command(ctx, dir, "./pan", s.arguments()...)
	if err != nil {
		return found{}, err
	}
	f := found{took: time.Since(begun)}
	if f.outcome, err = parse(output, s.live); err != nil || f.violations == 0 {
		return f, err
	}
	replay, err := command(ctx, dir, "./pan", "-r", filepath.Base(s.model)+".trail")
	if err != nil {
		return f, err
	}
	f.story = story(replay)
	f.breaks, err = broken(f.story, s.live)
	return f, err
}

func (s search) build(ctx context.Context, dir string) error {
	generate := []string{"-a"}
	for _, macro := range s.macros {
		generate = append(generate, "-D"+macro)
	}
	if _, err := command(ctx, dir, s.spin, append(generate, s.model)...); err != nil {
		return err
	}
	_, err := command(ctx, dir, "cc", s.compilation()...)
	return err
}

// compilation: a search for violations goes into breadth, which is faster
// here and finds a shortest trail. One for cycles has to go into depth.
func (s search) compilation() []string {
	args := []string{"-O2", "-o", "pan", "-DMEMLIM=" + strconv.Itoa(memoryLimit)}
	if s.small {
		args[0] = "-O1"
	}
	if s.live {
		args = append(args, "-DNFAIR=4") // room for 14 processes
	} else {
		args = append(args, "-DSAFETY", "-DBFS")
	}
	return append(args, "pan.c")
}

func (s search) arguments() []string {
	args := []string{"-w24"} // 2^24 slots in its table of states
	if s.small {
		args[0] = "-w20"
	}
	if s.live {
		args = append(args, "-a", "-f", "-m"+strconv.Itoa(depthLimit))
	}
	return args
}

// command runs a program in dir and returns all that it prints.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s was stopped: %w", filepath.Base(name), context.Cause(ctx))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, output)
	}
	return string(output), nil
}
