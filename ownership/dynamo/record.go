package dynamo

import (
	"cmp"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership"
)

func encodeRecord(rec ownership.Record) (item, error) {
	return attributevalue.MarshalMap(map[string]any{
		AttrTargetGroup:       string(rec.Group),
		AttrOwner:             rec.Owner.String(),
		AttrClusterID:         rec.Owner.Cluster,
		AttrBindingUID:        rec.BindingUID,
		AttrMode:              mode(rec.Exclusive),
		AttrHeld:              targets(rec.Held),
		AttrReleasing:         targets(rec.Releasing),
		AttrVersion:           rec.Version,
		AttrWriteID:           rec.WriteID,
		AttrSchemaVersion:     ownership.SchemaVersion,
		AttrUpdatedAt:         formatTime(rec.UpdatedAt),
		AttrHeldCount:         len(rec.Held),
		AttrReleasingCount:    len(rec.Releasing),
		AttrControllerVersion: rec.ControllerVersion,
	})
}

// What the mode of a record says of how its owner has the target group.
const (
	ModeShared    = "shared"
	ModeExclusive = "exclusive"
)

func mode(exclusive bool) string {
	if exclusive {
		return ModeExclusive
	}
	return ModeShared
}

// targets are a map of targets in an item. A record has hundreds of them and is
// written at every change, so this is not left to reflection, and targets that
// came together share one entry.
type targets map[ownership.Target]time.Time

// MarshalDynamoDBAttributeValue implements [attributevalue.Marshaler].
func (t targets) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	entries, shared := make(item, len(t)), map[time.Time]types.AttributeValue{}
	for target, since := range t {
		if shared[since] == nil {
			shared[since] = &types.AttributeValueMemberM{
				Value: item{AttrSince: &types.AttributeValueMemberS{Value: formatTime(since)}},
			}
		}
		entries[string(target)] = shared[since]
	}
	return &types.AttributeValueMemberM{Value: entries}, nil
}

// decodeRecord is strict about everything that decides something: what is not
// exactly a record is an error, and never a record with fewer targets.
func decodeRecord(from item) (ownership.Record, error) {
	rec, err := decodeIdentity(from)
	if err != nil {
		return ownership.Record{}, err
	}
	if rec.Held, err = decodeTargets(from, AttrHeld); err != nil {
		return ownership.Record{}, err
	}
	if rec.Releasing, err = decodeTargets(from, AttrReleasing); err != nil {
		return ownership.Record{}, err
	}
	for target := range rec.Held {
		if _, both := rec.Releasing[target]; both {
			return ownership.Record{}, fmt.Errorf("target %s is in both %s and %s", target, AttrHeld, AttrReleasing)
		}
	}
	rec.Exclusive = note(from, AttrMode) == ModeExclusive
	rec.UpdatedAt = noteTime(from, AttrUpdatedAt)
	rec.ControllerVersion = note(from, AttrControllerVersion)
	return rec, nil
}

func decodeIdentity(from item) (ownership.Record, error) {
	rev, err := revision(from)
	if err != nil {
		return ownership.Record{}, err
	}
	group, err := text(from, AttrTargetGroup)
	if err != nil {
		return ownership.Record{}, err
	}
	arn, err := ownership.ParseGroupARN(group)
	if err != nil {
		return ownership.Record{}, err
	}
	key, err := text(from, AttrOwner)
	if err != nil {
		return ownership.Record{}, err
	}
	owner, err := ownership.ParseOwner(key)
	if err != nil {
		return ownership.Record{}, err
	}
	clusterID, err := text(from, AttrClusterID)
	if err != nil {
		return ownership.Record{}, err
	}
	if clusterID != owner.Cluster {
		return ownership.Record{}, fmt.Errorf("attribute %s is %q and the owner is %s", AttrClusterID, clusterID, owner)
	}
	uid, err := text(from, AttrBindingUID)
	return ownership.Record{Group: arn, Owner: owner, BindingUID: uid, Revision: rev}, err
}

func decodeTargets(from item, name string) (map[ownership.Target]time.Time, error) {
	entries, err := attribute[*types.AttributeValueMemberM](from, name)
	if err != nil {
		return nil, err
	}
	targets := make(map[ownership.Target]time.Time, len(entries.Value))
	for key := range entries.Value {
		target, err := ownership.ParseTarget(key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		entry, err := attribute[*types.AttributeValueMemberM](entries.Value, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		targets[target] = noteTime(entry.Value, AttrSince)
	}
	return targets, nil
}

func encodeCluster(c ownership.Cluster) (item, error) {
	return attributevalue.MarshalMap(map[string]any{
		AttrTargetGroup:       ClusterKey,
		AttrOwner:             c.ID,
		AttrFingerprint:       c.Fingerprint,
		AttrState:             string(c.State),
		AttrHeartbeatSeq:      c.HeartbeatSeq,
		AttrHeartbeatAt:       formatTime(c.HeartbeatAt),
		AttrVersion:           c.Version,
		AttrWriteID:           c.WriteID,
		AttrSchemaVersion:     ownership.SchemaVersion,
		AttrControllerVersion: c.ControllerVersion,
	})
}

// decodeCluster leaves the state as it is: whoever reads the entry has to say
// that an unknown one is unknown, and not that there is no entry.
func decodeCluster(from item) (ownership.Cluster, error) {
	rev, revErr := revision(from)
	id, idErr := text(from, AttrOwner)
	fingerprint, fingerprintErr := text(from, AttrFingerprint)
	seq, seqErr := number(from, AttrHeartbeatSeq, 0)
	state, stateErr := text(from, AttrState)
	if err := cmp.Or(revErr, idErr, fingerprintErr, seqErr, stateErr); err != nil {
		return ownership.Cluster{}, err
	}
	return ownership.Cluster{
		ID: id, Fingerprint: fingerprint, State: ownership.ClusterState(state),
		HeartbeatSeq: seq, HeartbeatAt: noteTime(from, AttrHeartbeatAt),
		Revision: rev, ControllerVersion: note(from, AttrControllerVersion),
	}, nil
}
