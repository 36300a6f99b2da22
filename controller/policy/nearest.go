package policy

import (
	"slices"

	"github.com/agnivade/levenshtein"
)

// nearest is the name of which name is most likely a misspelling.
func nearest(name string, names []string) string {
	return slices.MinFunc(names, func(a, b string) int {
		return levenshtein.ComputeDistance(name, a) - levenshtein.ComputeDistance(name, b)
	})
}
