package demo

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	width  = 96
	indent = "   "
)

// The colours, as ANSI sequences.
const (
	plain  = ""
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	reset  = "\x1b[0m"
)

// cellColors are the words of tables that say how things stand.
var cellColors = map[string]string{
	"held": green, "healthy": green, "releasing": yellow, "initial": yellow,
	"unhealthy": red, "no": red, "-": dim, "put in by hand": cyan, "pod is gone": dim,
}

// screen prints for people, no wider than width, with the seconds since the
// start where something took time.
type screen struct {
	color bool
	begun time.Time

	mu  sync.Mutex
	out io.Writer
}

func newScreen(out io.Writer, color bool) *screen {
	return &screen{out: out, color: color, begun: time.Now()}
}

func (s *screen) print(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range lines {
		fmt.Fprintln(s.out, line)
	}
}

func (s *screen) paint(color, text string) string {
	if !s.color || color == plain {
		return text
	}
	return color + text + reset
}

// heading opens a scene.
func (s *screen) heading(number int, title string) {
	title = fmt.Sprintf("%d  %s ", number, title)
	elapsed := fmt.Sprintf(" %ds", s.elapsed())
	rule := strings.Repeat("─", max(3, width-utf8.RuneCountInString(title+elapsed)))
	s.print("", s.paint(bold, title)+s.paint(dim, rule+elapsed))
}

// say tells the story.
func (s *screen) say(format string, args ...any) {
	s.print("")
	for _, line := range wrap(fmt.Sprintf(format, args...), width-len(indent)) {
		s.print(indent + line)
	}
}

// progress says how far things are.
func (s *screen) progress(format string, args ...any) {
	stamp := fmt.Sprintf("%s%3ds  ", indent, s.elapsed())
	for i, line := range wrap(fmt.Sprintf(format, args...), width-len(stamp)) {
		if i > 0 {
			stamp = strings.Repeat(" ", len(stamp))
		}
		s.print(s.paint(dim, stamp+line))
	}
}

// tick shows a check that has passed.
func (s *screen) tick(what string) {
	for i, line := range wrap(what, width-len(indent)-2) {
		mark := s.paint(green, "✓")
		if i > 0 {
			mark = " "
		}
		s.print(indent + mark + " " + line)
	}
}

// note is a line below a table.
func (s *screen) note(format string, args ...any) {
	s.print(indent + s.paint(dim, fmt.Sprintf(format, args...)))
}

// table prints rows below a header.
func (s *screen) table(header []string, rows [][]string) {
	widths := columnWidths(header, rows)
	s.print("", indent+s.paint(bold, tableLine(header, widths, nil)))
	for _, row := range rows {
		s.print(indent + tableLine(row, widths, func(cell, padded string) string {
			return s.paint(cellColors[cell], padded)
		}))
	}
}

// logs shows the logs that may explain a failure.
func (s *screen) logs(text string) {
	if text != "" {
		s.print("", strings.TrimRight(text, "\n"))
	}
}

// trouble shows a failure, with the lines that its message has.
func (s *screen) trouble(err error) {
	s.print("")
	mark := s.paint(red, "✗")
	for text := range strings.Lines(err.Error()) {
		for _, line := range wrap(text, width-len(indent)-2) {
			s.print(indent + mark + " " + line)
			mark = " "
		}
	}
}

// last is the last line, without colour, for scripts.
func (s *screen) last(format string, args ...any) {
	s.print("", fmt.Sprintf(format, args...))
}

func (s *screen) elapsed() int { return int(time.Since(s.begun).Seconds()) }
