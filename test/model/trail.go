package model

import (
	"fmt"
	"regexp"
	"strings"
)

// pan's own lines between those that the model prints.
var panLine = regexp.MustCompile(`^(\s*\d+:\t|MSC: |spin: |pan:\d|$)`)

const cycle = "<<<<<START OF CYCLE>>>>>"

// story is what the model says of a trail that pan replays.
func story(replay string) []string {
	var lines []string
	for line := range strings.Lines(replay) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "#processes"):
			return lines
		case strings.Contains(line, cycle):
			lines = append(lines, "from here on the same again and again:")
		case !panLine.MatchString(line):
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// broken returns the promise that the story ends with. A cycle breaks L1,
// which is all that is asked of an endless run.
func broken(lines []string, live bool) (Promise, error) {
	for _, line := range lines {
		for _, p := range []Promise{S1, S2, S3} {
			if strings.HasPrefix(line, string(p)+" is broken") {
				return p, nil
			}
		}
		if live && strings.HasPrefix(line, "from here on") {
			return L1, nil
		}
	}
	return "", fmt.Errorf("the trail breaks no promise:\n%s", strings.Join(lines, "\n"))
}
