package demo

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
)

func TestTableColumnsLineUpWithAndWithoutColour(t *testing.T) {
	header := []string{"TARGET", "IN THE GROUP", "WHAT"}
	rows := [][]string{
		{"10.1.0.1:8080", "healthy", "pod in east"},
		{"é:1", "no", "pod is gone"},
	}
	want := strings.Join([]string{
		"",
		"   TARGET          IN THE GROUP   WHAT",
		"   10.1.0.1:8080   healthy        pod in east",
		"   é:1             no             pod is gone",
		"",
	}, "\n")
	for _, color := range []bool{false, true} {
		g := NewWithT(t)
		var out bytes.Buffer
		newScreen(&out, color).table(header, rows)
		g.Expect(strings.Contains(out.String(), "\x1b")).To(Equal(color))
		g.Expect(withoutColour(out.String())).To(Equal(want))
	}
}

func withoutColour(text string) string {
	for _, sequence := range []string{bold, dim, red, green, yellow, cyan, reset} {
		text = strings.ReplaceAll(text, sequence, "")
	}
	return text
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"one two", []string{"one two"}},
		{"one two three", []string{"one two", "three"}},
		{"a longwordthatdoesnotfit b", []string{"a", "longwordthatdoesnotfit", "b"}},
		{"éé éé éé", []string{"éé éé", "éé"}},
	} {
		NewWithT(t).Expect(wrap(tt.text, 7)).To(Equal(tt.want), tt.text)
	}
}

func TestNothingIsWiderThanTheScreen(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	s := newScreen(&out, false)
	long := strings.Repeat("word ", 100)
	s.heading(3, "A title")
	s.say("%s", long)
	s.progress("%s", long)
	s.tick(long)
	for line := range strings.Lines(out.String()) {
		g.Expect(utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", width), line)
	}
}
