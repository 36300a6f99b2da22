package soak

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

const (
	indent = "   "
	// keptEvents are shown when a soak fails.
	keptEvents = 25
)

// screen prints for people, with the time since the start.
type screen struct {
	begun time.Time
	// detailed shows each fault; else they are only counted.
	detailed bool

	mu     sync.Mutex
	out    io.Writer
	events []string
}

func (s *screen) print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.out, line)
}

// say tells how far things are.
func (s *screen) say(format string, args ...any) {
	s.print(fmt.Sprintf("%8s  %s", s.elapsed(), fmt.Sprintf(format, args...)))
}

// event tells of a fault and keeps it in mind.
func (s *screen) event(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	s.events = append(s.events, clockTime(time.Now())+"  "+text)
	s.events = s.events[max(0, len(s.events)-keptEvents):]
	s.mu.Unlock()
	if s.detailed {
		s.say("%s", indent+text)
	}
}

func (s *screen) lastEvents() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.events...)
}

func (s *screen) section(title string, lines []string) {
	s.print("\n" + indent + title)
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	for _, line := range lines {
		s.print(indent + indent + line)
	}
}

// table prints rows of two columns.
func (s *screen) table(rows [][2]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := tabwriter.NewWriter(s.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w)
	for _, row := range rows {
		fmt.Fprintf(w, "%s%s\t%s\n", indent, row[0], row[1])
	}
	w.Flush()
}

func (s *screen) elapsed() time.Duration { return time.Since(s.begun).Round(time.Second) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
