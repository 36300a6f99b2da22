package cluster

import "time"

// SetNow has the gate read another clock.
func (g *Gate) SetNow(now func() time.Time) { g.now = now }
