package managed_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/managed"
)

// Events of one reason are counted as one by Kubernetes, so that one has all.
func TestOneEventForAllProblemsOfAReason(t *testing.T) {
	w := newWorld(t, service(inGroup("htp: a\nhttps: b\nhtp2: [c, c]")))
	_, err := w.passes(managed.OfServices(w.options()), "web")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.events.Events).To(HaveLen(2))
	w.Expect(<-w.events.Events).To(ContainSubstring("Warning InvalidAnnotation"))
	w.Expect(<-w.events.Events).To(And(ContainSubstring("no port htp;"), ContainSubstring("no port https;")))
}

// The API refuses longer notes.
func TestLongNotesAreCut(t *testing.T) {
	w := newWorld(t, service(inGroup(strings.Repeat("ü", 700)+": a")))
	_, err := w.passes(managed.OfServices(w.options()), "web")
	w.Expect(err).NotTo(HaveOccurred())
	note := strings.TrimPrefix(<-w.events.Events, "Warning PortNotFound ")
	w.Expect(len(note)).To(And(BeNumerically("<=", 1024), BeNumerically(">", 1000)))
	w.Expect(utf8.ValidString(note)).To(BeTrue())
	w.Expect(note).To(HaveSuffix("ü..."))
}

// A problem is told again once it has been away, or its object.
func TestWhatIsToldAgain(t *testing.T) {
	w := newWorld(t, service(inGroup("htp: a")))
	r := managed.OfServices(w.options())
	pass := func() []string {
		_, err := w.passes(r, "web")
		w.Expect(err).NotTo(HaveOccurred())
		return w.told()
	}
	w.Expect(pass()).To(Equal([]string{"PortNotFound"}))
	w.Expect(pass()).To(BeEmpty())
	w.Expect(w.client.Update(t.Context(), service(inGroup("http: a")))).To(Succeed())
	w.Expect(pass()).To(Equal([]string{"BindingCreated"}))
	again := service(inGroup("htp: a"))
	w.Expect(w.client.Update(t.Context(), again)).To(Succeed())
	w.Expect(pass()).To(Equal([]string{"PortNotFound"}))
	w.Expect(w.client.Delete(t.Context(), again)).To(Succeed())
	w.Expect(pass()).To(BeEmpty())
	w.Expect(w.client.Create(t.Context(), service(inGroup("htp: a")))).To(Succeed())
	w.Expect(pass()).To(Equal([]string{"PortNotFound"}))
}
