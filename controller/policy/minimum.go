package policy

// Minimum is how many targets have to stay. The zero Minimum is none.
type Minimum struct {
	Targets int
	Percent int // of the endpoints that there are
}

// Of is the number of targets, of as many endpoints as there are; a part of one
// counts as one.
func (m Minimum) Of(there int) int {
	return max(m.Targets, (there*m.Percent+99)/100)
}
