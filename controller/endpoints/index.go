package endpoints

import (
	"context"

	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byService is the index of slices by the name of their Service.
const byService = "serviceName"

// Index has a cache keep the index that [Indexed] reads by.
func Index(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &discoveryv1.EndpointSlice{}, byService, func(o client.Object) []string {
		return []string{ServiceOf(o).Name}
	})
}

// Indexed is a client that reads a cache, and finds the slices of a Service by the index. By
// their label alone a cache looks at every slice of the namespace, so that a
// start with many Services in one would take the square of their number.
type Indexed struct{ client.Client }

// List implements [client.Reader].
func (c Indexed) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if service, ok := serviceOf(list, opts); ok {
		opts = append(opts, client.MatchingFields{byService: service})
	}
	return c.Client.List(ctx, list, opts...)
}

// serviceOf is the Service whose slices are asked for.
func serviceOf(list client.ObjectList, opts []client.ListOption) (string, bool) {
	if _, ok := list.(*discoveryv1.EndpointSliceList); !ok {
		return "", false
	}
	options := (&client.ListOptions{}).ApplyOptions(opts)
	if options.LabelSelector == nil {
		return "", false
	}
	return options.LabelSelector.RequiresExactMatch(discoveryv1.LabelServiceName)
}
