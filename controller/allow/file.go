package allow

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/signal"
	"target-ownership-controller/ownership"
)

// Changed says that the rules are others now.
type Changed = event.TypedGenericEvent[struct{}]

// File has the rules of a file, and follows it.
type File struct {
	path    string
	rules   atomic.Pointer[Rules]
	content []byte // as last read, good or not
	changed signal.Signal[struct{}]
}

// Open reads the file. Rules that cannot be read are an error: to start without
// them would allow everything.
func Open(path string) (*File, error) {
	f := &File{path: path}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return f, f.take(content)
}

func (f *File) take(content []byte) error {
	f.content = content
	rules, err := Parse(content)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.rules.Store(&rules)
	return nil
}

// Allows is that of the rules as last read.
func (f *File) Allows(namespace string, group ownership.GroupARN, role string, tags Tags) (bool, error) {
	return f.rules.Load().Allows(namespace, group, role, tags)
}

// Watch tells of changes from now on. It has to be called before Start.
func (f *File) Watch() <-chan Changed {
	return f.changed.Watch()
}

// period is between two looks at the file. The kubelet brings a ConfigMap within
// a minute or so
// (https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically).
const period = 10 * time.Second

// Start follows the file until the context ends.
func (f *File) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, f.follow, period)
	return nil
}

// NeedLeaderElection implements [manager.LeaderElectionRunnable]: a standby
// follows the file too.
func (*File) NeedLeaderElection() bool { return false }

// follow reads the file again. While it cannot be read, what was read last
// counts.
func (f *File) follow(ctx context.Context) {
	content, err := os.ReadFile(f.path)
	if err == nil && bytes.Equal(content, f.content) {
		return
	}
	if err == nil {
		err = f.take(content)
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "the rules for target groups cannot be read: the earlier ones go on to count")
		return
	}
	log.FromContext(ctx).Info("the rules for target groups have changed", "rules", len(*f.rules.Load()))
	f.changed.Tell(struct{}{})
}
