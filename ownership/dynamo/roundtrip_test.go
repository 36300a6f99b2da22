package dynamo_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
)

// FuzzRecordRoundTrip: a record that the store takes is read back with the same
// meaning, and one that readers would refuse is not sent.
func FuzzRecordRoundTrip(f *testing.F) {
	f.Add("a", "shop", "web", "uid", "10.0.0.5:8080", "[2001:db8::5]:8080", int64(1), "w")
	f.Add("a/b", "shop", "web", "uid", "i-0abc:30080", "10.0.0.5:80", int64(7), "w")
	f.Add("a", "shop", "web", "", "[::ffff:10.0.0.5]:80", "10.0.0.5:80", int64(1), "w")
	f.Add("a", "s\x00", "é", "uid", "10.0.0.5:80", "10.0.0.5:80", int64(0), "")
	f.Fuzz(func(t *testing.T, id, namespace, name, uid, held, releasing string, version int64, writeID string) {
		want := ownership.Record{
			Group: group, Owner: ownership.Owner{Cluster: id, Namespace: namespace, Name: name}, BindingUID: uid,
			Held:      map[ownership.Target]time.Time{ownership.Target(held): {}},
			Releasing: map[ownership.Target]time.Time{ownership.Target(releasing): {}},
			Revision:  ownership.Revision{Version: version, WriteID: writeID},
		}
		kept := &keeping{}
		table := dynamo.New(kept, "owners", dynamo.Options{})
		if table.Put(t.Context(), want, ownership.Revision{Version: version - 1}) != nil {
			if kept.item != nil || isRecord(want) {
				t.Fatalf("%+v was refused, and sent: %t", want, kept.item != nil)
			}
			return
		}
		got, err := table.Records(t.Context(), group)
		if err != nil || len(got.Records) != 1 {
			t.Fatalf("%+v was written, and reads as %+v, %v", want, got, err)
		}
		if diff := cmp.Diff(want, got.Records[0], cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// isRecord is what the protocol asks of a record of two targets.
func isRecord(r ownership.Record) bool {
	targets := map[ownership.Target]bool{}
	for _, entries := range []map[ownership.Target]time.Time{r.Held, r.Releasing} {
		for t := range entries {
			_, err := ownership.ParseTarget(string(t))
			targets[t] = err == nil
		}
	}
	valid := 0
	for _, ok := range targets {
		if ok {
			valid++
		}
	}
	owner, err := ownership.ParseOwner(r.Owner.String())
	return valid == 2 && err == nil && owner == r.Owner && r.BindingUID != "" && r.WriteID != "" && r.Version > 0
}

// keeping reads what was last written.
type keeping struct{ stored }

func (k *keeping) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	k.item = in.Item
	return &dynamodb.PutItemOutput{}, nil
}
