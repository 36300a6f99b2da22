package endpoints

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// register has the index of slices kept by the client that is built.
type register struct{ *fake.ClientBuilder }

func (r register) IndexField(_ context.Context, o client.Object, field string, extract client.IndexerFunc) error {
	r.WithIndex(o, field, extract)
	return nil
}

func TestSlicesOfAServiceAreFoundByTheIndex(t *testing.T) {
	g := NewWithT(t)
	mine, other, elsewhere := slice("a", 8080, pod("10.0.0.5", "1")), slice("b", 8080, pod("10.0.0.6", "2")), slice("c", 8080, pod("10.0.0.7", "3"))
	other.Labels[discoveryv1.LabelServiceName] = "stock"
	elsewhere.Namespace = "test"

	var selected []string
	asked := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		if field := (&client.ListOptions{}).ApplyOptions(opts).FieldSelector; field != nil {
			selected = append(selected, field.String())
		}
		return c.List(ctx, list, opts...)
	}}
	builder := fake.NewClientBuilder().WithObjects(shop(), &mine, &other, &elsewhere).WithInterceptorFuncs(asked)
	g.Expect(Index(t.Context(), register{builder})).To(Succeed())
	cached := Indexed{Client: builder.Build()}

	want := resolve(t, cached, ipQuery())
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080"}))
	g.Expect(selected).To(Equal([]string{"serviceName=shop"}))

	// Nothing else is looked up by it.
	all := &discoveryv1.EndpointSliceList{}
	g.Expect(cached.List(t.Context(), all)).To(Succeed())
	g.Expect(all.Items).To(HaveLen(3))
	g.Expect(cached.List(t.Context(), &corev1.ServiceList{}, client.MatchingLabels{discoveryv1.LabelServiceName: "shop"})).To(Succeed())
	g.Expect(selected).To(HaveLen(1))
}
