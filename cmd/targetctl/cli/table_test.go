package cli

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// A table is created only where there is none, and nobody is asked about one
// that is there.
func TestTables(t *testing.T) {
	for line, c := range map[string]struct {
		code int
		out  string
		errs string
	}{
		"check":                              {exitOK, "", "table target-ownership is as it has to be\n"},
		"check -o json":                      {exitOK, "{\n  \"table\": \"target-ownership\",\n  \"region\": \"eu-west-1\",\n  \"created\": false\n}\n", ""},
		"check -o yaml":                      {exitOK, "created: false\nregion: eu-west-1\ntable: target-ownership\n", ""},
		"check --table strange":              {exitFailure, "", "targetctl: other keys\n"},
		"create":                             {exitOK, "", "table target-ownership is as it has to be\n"},
		"create --dry-run":                   {exitOK, "", "dry run: table target-ownership is there already, and as it has to be\n"},
		"create --table strange":             {exitFailure, "", "targetctl: other keys\n"},
		"create --table strange --dry-run":   {exitFailure, "", "targetctl: other keys\n"},
		"create --table other --dry-run":     {exitOK, "", "dry run: Table other is created.\n"},
		"create --table other":               {exitFailure, "", "Table other is created.\nType yes to go on: \ntargetctl: " + errNotConfirmed.Error() + "\n"},
		"create --table other --yes":         {exitOK, "", "table other is as it has to be\n"},
		"create --table other --yes -o yaml": {exitOK, "created: true\nregion: eu-west-1\ntable: other\n", ""},
		"create --table new --yes":           {exitOK, "", "table new is as it has to be\n"},
		"create --table new --dry-run":       {exitFailure, "", "targetctl: the table is not active yet\n"},
	} {
		t.Run(line, func(t *testing.T) {
			b := newBench(t)
			code, out, errs := b.run(append([]string{"table"}, strings.Fields(line)...)...)
			b.Expect(code).To(Equal(c.code))
			b.Expect(out).To(Equal(c.out))
			b.Expect(errs).To(Equal(c.errs))
		})
	}
}
