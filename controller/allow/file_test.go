package allow

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAFileIsFollowed(t *testing.T) {
	g, path := NewWithT(t), filepath.Join(t.TempDir(), "rules.yaml")
	write := func(content string) { g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed()) }
	_, err := Open(path)
	g.Expect(err).To(MatchError(os.ErrNotExist))
	write("nothing")
	_, err = Open(path)
	g.Expect(err).To(MatchError(ContainSubstring("rules.yaml: not a list of rules")))

	write("[{namespaces: [shop], targetGroups: ['*']}]")
	f, err := Open(path)
	g.Expect(err).NotTo(HaveOccurred())
	first, second := f.Watch(), f.Watch()
	f.follow(t.Context())
	g.Expect(allows(f, "shop")).To(BeTrue())
	g.Expect(first).NotTo(Receive(), "nothing has changed")

	write("[{namespaces: [stock], targetGroups: ['*']}]")
	f.follow(t.Context())
	g.Expect(allows(f, "shop")).To(BeFalse())
	g.Expect(allows(f, "stock")).To(BeTrue())
	g.Expect(first).To(Receive())

	// What cannot be read changes nothing, and the next good one counts.
	write("broken")
	f.follow(t.Context())
	g.Expect(os.Remove(path)).To(Succeed())
	f.follow(t.Context())
	g.Expect(allows(f, "stock")).To(BeTrue())
	g.Expect(first).NotTo(Receive())
	write("[]")
	f.follow(t.Context())
	g.Expect(allows(f, "stock")).To(BeFalse())
	g.Expect(first).To(Receive())
	g.Expect(second).To(Receive(), "one event for both changes")
	g.Expect(second).NotTo(Receive())
}

func allows(f *File, namespace string) bool {
	allowed, err := f.Allows(namespace, web, "", nil)
	return allowed && err == nil
}
