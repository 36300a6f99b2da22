// Package docs_test holds that what the pages of this repository link to and
// tell people to type is there.
package docs_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode"

	. "github.com/onsi/gomega"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// page is a Markdown file of the repository.
type page struct {
	source  []byte
	tree    ast.Node
	anchors map[string]bool
}

// pages are the Markdown files that git has or will have, by path.
func pages(t *testing.T) map[string]page {
	t.Helper()
	g := NewWithT(t)
	list := exec.Command("git", "-C", root(), "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md")
	out, err := list.Output()
	g.Expect(err).NotTo(HaveOccurred())
	found := map[string]page{}
	for _, name := range strings.Fields(string(out)) {
		source, err := os.ReadFile(filepath.Join(root(), name))
		g.Expect(err).NotTo(HaveOccurred())
		found[name] = parse(source)
	}
	g.Expect(found).To(HaveKey("docs/getting-started.md"))
	return found
}

func parse(source []byte) page {
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	p := page{source: source, tree: tree, anchors: map[string]bool{}}
	p.each(func(n ast.Node) {
		if heading, is := n.(*ast.Heading); is {
			p.addAnchor(p.words(heading))
		}
	})
	return p
}

// addAnchor adds the anchor that GitHub gives a heading: in lower case, without
// punctuation, with a number if there is one already.
func (p page) addAnchor(heading string) {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
	unique := anchor
	for n := 1; p.anchors[unique]; n++ {
		unique = anchor + "-" + strconv.Itoa(n)
	}
	p.anchors[unique] = true
}

func (p page) each(visit func(ast.Node)) {
	// The visitor returns no error.
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// words is the text of a node, without markup.
func (p page) words(n ast.Node) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, is := child.(*ast.Text); is {
			b.Write(t.Segment.Value(p.source))
		} else {
			b.WriteString(p.words(child))
		}
	}
	return b.String()
}

// links are the destinations of all links and pictures.
func (p page) links() []string {
	var all []string
	p.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			all = append(all, string(n.Destination))
		case *ast.Image:
			all = append(all, string(n.Destination))
		}
	})
	return all
}

// code are the lines of all blocks of code.
func (p page) code() []string {
	var all []string
	p.each(func(n ast.Node) {
		if n.Kind() != ast.KindCodeBlock && n.Kind() != ast.KindFencedCodeBlock {
			return
		}
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			all = append(all, strings.TrimSpace(string(line.Value(p.source))))
		}
	})
	return all
}

func TestRelativeLinksLeadSomewhere(t *testing.T) {
	all := pages(t)
	checked := 0
	for name, p := range all {
		for _, link := range p.links() {
			if strings.Contains(link, "://") {
				continue
			}
			checked++
			if why := broken(all, name, link); why != "" {
				t.Errorf("%s: the link %s: %s", name, link, why)
			}
		}
	}
	NewWithT(t).Expect(checked).To(BeNumerically(">", 100))
}

// broken says what is wrong with a link of a page, if anything is.
func broken(all map[string]page, from, link string) string {
	to, anchor, hasAnchor := strings.Cut(link, "#")
	target := from
	if to != "" {
		target = path.Join(path.Dir(from), to)
	}
	if strings.HasPrefix(target, "..") || path.IsAbs(to) {
		return "it leaves the repository"
	}
	info, err := os.Stat(filepath.Join(root(), target))
	if err != nil {
		return "there is no " + target
	}
	if !hasAnchor {
		return ""
	}
	if info.IsDir() {
		target = path.Join(target, "README.md")
	}
	if p, is := all[target]; !is || !p.anchors[anchor] {
		return "there is no heading #" + anchor + " in " + target
	}
	return ""
}

func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
