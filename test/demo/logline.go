package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sameInAll are the fields of the controller's log that are the same in each
// line of a cluster, or say nothing to people.
var sameInAll = []string{
	"level", "ts", "msg", "logger", "controller", "controllerGroup", "controllerKind", "TargetGroupBinding",
	"namespace", "name", "reconcileID", "targetGroup",
}

// logLine makes a line of the controller's log, which is JSON, shorter. Other
// lines stay as they are.
func logLine(line string) string {
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		return line
	}
	clock := fmt.Sprint(fields["ts"])
	if _, after, found := strings.Cut(clock, "T"); found {
		clock = strings.TrimSuffix(after, "Z")
	}
	text := fmt.Sprintf("%s %-5s %s", clock, fields["level"], fields["msg"])
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(sameInAll, key) {
			text += fmt.Sprintf(" %s=%v", key, fields[key])
		}
	}
	return text
}
