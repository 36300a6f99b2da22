package soak

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
)

// namesTarget matches an address with the port of the pods.
var namesTarget = regexp.MustCompile(`\b10\.\d+\.\d+\.\d+:8080\b`)

// logLine is what the checks need of a line.
type logLine struct {
	Level, Msg, Reason, ReconcileID string
	Targets, Others                 []string // of a decision
}

// decision tells the decisions of one pass apart.
func (l logLine) decision() string { return fmt.Sprint(l.ReconcileID, l.Msg, l.Reason, l.Others) }

// healthyLog checks what a controller logs while nothing fails: nothing above
// info, and no line for each target, but one for each decision of a pass. It
// returns the number of lines.
func healthyLog(content []byte) (lines int, err error) {
	scanner := bufio.NewScanner(bytes.NewReader(content))
	scanner.Buffer(nil, 1<<20)
	told := map[string]bool{}
	for scanner.Scan() {
		lines++
		var entry logLine
		if err := json.Unmarshal(scanner.Bytes(), &entry); err != nil {
			return lines, fmt.Errorf("line %d of the log is not JSON: %s", lines, scanner.Text())
		}
		if entry.Level != "info" && entry.Level != "debug" {
			return lines, fmt.Errorf("line %d of the log is above info: %s", lines, scanner.Text())
		}
		if !namesTarget.Match(scanner.Bytes()) {
			continue
		}
		if entry.Targets == nil {
			return lines, fmt.Errorf("line %d of the log is about one target: %s", lines, scanner.Text())
		}
		if told[entry.decision()] {
			return lines, fmt.Errorf("line %d of the log is about a decision that a line before it has: %s", lines, scanner.Text())
		}
		told[entry.decision()] = true
	}
	return lines, scanner.Err()
}

// checkLogs reads the logs up to now.
func (s *soak) checkLogs() (lines int, err error) {
	for _, at := range s.sites {
		content, err := os.ReadFile(s.logOf(at))
		if err != nil {
			return 0, err
		}
		n, err := healthyLog(content)
		if err != nil {
			return 0, fmt.Errorf("controller of %s, in healthy time: %w", at.name, err)
		}
		lines += n
	}
	return lines, nil
}

// forPeople are the fields of a log line that people read in a failure.
var forPeople = []string{"name", "count", "targets", "others", "reason", "retryAfter", "message", "error"}

// shortLines leaves what is the same in every line out. A line that is no
// JSON stays as it is.
func shortLines(lines []string) []string {
	short := make([]string, len(lines))
	for i, line := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			short[i] = line
			continue
		}
		short[i] = fmt.Sprintf("%v %v %v", fields["ts"], fields["level"], fields["msg"])
		for _, key := range forPeople {
			if value, there := fields[key]; there {
				short[i] += fmt.Sprintf(" %s=%v", key, value)
			}
		}
	}
	return short
}
