package docs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	. "github.com/onsi/gomega"
	"golang.org/x/net/html"
)

func TestNavigationHasEveryPage(t *testing.T) {
	g := NewWithT(t)
	var site struct {
		Params struct {
			Navigation []struct {
				Title string
				Pages []string
			}
		}
	}
	_, err := toml.DecodeFile(filepath.Join(root(), "docs", "site", "hugo.toml"), &site)
	g.Expect(err).NotTo(HaveOccurred())
	var entries []string
	for _, group := range site.Params.Navigation {
		g.Expect(group.Title).NotTo(BeEmpty())
		entries = append(entries, group.Pages...)
	}
	all := pages(t)
	for name := range all {
		if strings.HasPrefix(name, "docs/") && !covered(entries, name) {
			t.Errorf("%s is not in the navigation of docs/site/hugo.toml", name)
		}
	}
	for _, entry := range entries {
		if _, is := all[entry]; !is && !strings.HasSuffix(entry, "/") {
			t.Errorf("docs/site/hugo.toml: there is no page %s", entry)
		}
	}
}

// covered reports whether a page is an entry, or in a folder that is one.
func covered(entries []string, name string) bool {
	for _, entry := range entries {
		if name == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(name, entry) {
			return true
		}
	}
	return false
}

// document is what a page of the built site has.
type document struct {
	ids   map[string]bool
	links []string // of a elements
	loads []string // what a browser fetches by itself
}

func TestSite(t *testing.T) {
	g := NewWithT(t)
	hugo := filepath.Join(root(), "bin", "hugo")
	if _, err := os.Stat(hugo); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the site is not checked: bin/hugo is not there; `make docs` installs it and runs this test")
	}
	site := t.TempDir()
	build := exec.CommandContext(t.Context(), hugo, "--config", "docs/site/hugo.toml", "--destination", site, "--noBuildLock", "--panicOnWarning")
	build.Dir = root()
	build.Env = append(os.Environ(), "HUGO_CACHEDIR="+t.TempDir())
	out, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))

	documents := readSite(t, site)
	g.Expect(documents).To(HaveKey("getting-started.html"))
	for name, d := range documents {
		for _, load := range d.loads {
			if strings.Contains(load, "//") {
				t.Errorf("%s fetches %s from elsewhere", name, load)
			} else if !strings.HasPrefix(load, "data:") {
				checkLink(t, site, documents, name, load)
			}
		}
		for _, link := range d.links {
			if !strings.Contains(link, "://") {
				checkLink(t, site, documents, name, link)
			}
		}
	}
	start := documents["index.html"]
	for name := range documents {
		reached := false
		for _, link := range start.links {
			reached = reached || path.Clean(link) == name
		}
		// Folders without a README.md have a list of their pages, which are in
		// the navigation themselves.
		if !reached && name != "decisions/index.html" && name != "reference/index.html" {
			t.Errorf("%s cannot be reached from the first page", name)
		}
	}
}

func readSite(t *testing.T, site string) map[string]document {
	t.Helper()
	documents := map[string]document{}
	err := fs.WalkDir(os.DirFS(site), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		source, err := os.ReadFile(filepath.Join(site, name))
		if err != nil {
			return err
		}
		tree, err := html.Parse(bytes.NewReader(source))
		if err != nil {
			return err
		}
		d := document{ids: map[string]bool{}}
		for n := range tree.Descendants() {
			d.read(n)
		}
		documents[name] = d
		return nil
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return documents
}

func (d *document) read(n *html.Node) {
	for _, a := range n.Attr {
		switch {
		case a.Key == "id":
			d.ids[a.Val] = true
		case a.Key == "href" && n.Data == "a":
			d.links = append(d.links, a.Val)
		case a.Key == "href", a.Key == "src", a.Key == "srcset":
			d.loads = append(d.loads, a.Val)
		}
	}
}

func checkLink(t *testing.T, site string, documents map[string]document, from, link string) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Errorf("%s: %v", from, err)
		return
	}
	to := from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	if info, err := os.Stat(filepath.Join(site, to)); err != nil || info.IsDir() {
		t.Errorf("%s: the link %s: there is no %s", from, link, to)
	} else if u.Fragment != "" && !documents[to].ids[u.Fragment] {
		t.Errorf("%s: the link %s: there is no #%s in %s", from, link, u.Fragment, to)
	}
}
