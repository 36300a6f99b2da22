package demo

import (
	"strings"
	"unicode/utf8"
)

// columnGap is the room between two columns.
const columnGap = 3

func columnWidths(header []string, rows [][]string) []int {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// tableLine pads the cells to their columns. paint, if any, gets each cell as
// it is and padded, so that colours do not count as width.
func tableLine(cells []string, widths []int, paint func(cell, padded string) string) string {
	var line strings.Builder
	for i, cell := range cells {
		padded := cell
		if i < len(cells)-1 {
			padded += strings.Repeat(" ", widths[i]+columnGap-utf8.RuneCountInString(cell))
		}
		if paint != nil {
			padded = paint(cell, padded)
		}
		line.WriteString(padded)
	}
	return line.String()
}

// wrap breaks text between words into lines of at most width characters. A
// longer word has a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
