package model

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// outcome is what a search found.
type outcome struct {
	states     int // distinct ones
	violations int // pan stops at the first
}

var (
	errorsLine = regexp.MustCompile(`(?m)^State-vector \d+ byte, depth reached \d+, errors: (\d+)$`)
	statesLine = regexp.MustCompile(`(?m)^\s*(\d+) states, stored`)
)

// Each of these, anywhere in the output, says that states were left out.
var signsOfLess = []string{
	"Search not completed",
	"max search depth too small",
	"reached -DMEMLIM bound",
	"out of memory",
	"Bit statespace search",
	"Hash-Compact",
	"too many processes",
}

// Each of these lines says that what is asked was looked for.
var (
	looksForViolations = []string{"Full statespace search for:", "\tassertion violations\t+", "\tcycle checks       \t- (disabled by -DSAFETY)"}
	looksForCycles     = []string{"Full statespace search for:", "\tnever claim         \t+ (l1)", "\tacceptance   cycles \t+ (fairness enabled)"}
)

// parse reads the output of pan. It is an error if the search was for
// something else than asked, or if it found nothing and was not complete.
func parse(output string, live bool) (outcome, error) {
	wanted := looksForViolations
	if live {
		wanted = looksForCycles
	}
	for _, line := range wanted {
		if !strings.Contains(output, line) {
			return outcome{}, fmt.Errorf("pan does not say %q", strings.TrimSpace(line))
		}
	}
	violations, err := number(errorsLine, output)
	if err != nil {
		return outcome{}, fmt.Errorf("count of errors: %w", err)
	}
	states, err := number(statesLine, output)
	if err != nil {
		return outcome{}, fmt.Errorf("count of states: %w", err)
	}
	if violations == 0 {
		if err := complete(output); err != nil {
			return outcome{}, err
		}
	}
	return outcome{states: states, violations: violations}, nil
}

func complete(output string) error {
	for _, sign := range signsOfLess {
		if strings.Contains(output, sign) {
			return fmt.Errorf("the search is not complete: %s", sign)
		}
	}
	if !strings.Contains(output, "pan: elapsed time ") {
		return errors.New("the search did not come to its end")
	}
	return nil
}

func number(line *regexp.Regexp, output string) (int, error) {
	all := line.FindAllStringSubmatch(output, -1)
	if len(all) != 1 {
		return 0, fmt.Errorf("pan's output has it %d times, want once", len(all))
	}
	return strconv.Atoi(all[0][1])
}
