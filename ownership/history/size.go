package history

// Size is how many bytes the entry takes in the table, or a little more. Each
// target is in it twice, as docs/audit.md says.
func (e Entry) Size() int {
	const names, perEvent, perText = 150, 64, 1 // of what has a name, and of lists
	size := names + len(e.Group) + len(e.ID) + len(e.Cluster) + len(e.Binding) + len(e.By)
	for _, event := range e.Events {
		size += perEvent + len(event.Reason)
		for _, t := range event.Targets {
			size += 2*len(t) + perText
		}
		for _, o := range event.Others {
			size += len(o) + perText
		}
	}
	return size
}
