package config

import (
	"fmt"
	"strconv"
	"strings"
)

// The record merge modes.
const (
	CommitTimeOrdering = "COMMIT_TIME_ORDERING"
	EventTimeOrdering  = "EVENT_TIME_ORDERING"
	Custom             = "CUSTOM"
)

// The record merge strategy ids that Hudi knows.
const (
	EventTimeStrategy    = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
	CommitTimeStrategy   = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
	CustomStrategy       = "1897ef5f-18bc-4557-939c-9d6a8afd1519"
	PayloadBasedStrategy = "00000000-0000-0000-0000-000000000000"
)

// The partial update modes.
const (
	IgnoreDefaults  = "IGNORE_DEFAULTS"
	FillUnavailable = "FILL_UNAVAILABLE"
)

const (
	modelPackage = "org.apache.hudi.common.model."

	payloadKey       = "hoodie.compaction.payload.class"
	writePayloadKey  = "hoodie.datasource.write.payload.class"
	legacyPayloadKey = "hoodie.table.legacy.payload.class"
	modeKey          = "hoodie.record.merge.mode"
	strategyKey      = "hoodie.record.merge.strategy.id"
	oldStrategyKey   = "hoodie.compaction.record.merger.strategy"

	deleteFieldKey  = "hoodie.payload.delete.field"
	deleteMarkerKey = "hoodie.payload.delete.marker"
	unavailableKey  = "hoodie.write.partial.update.unavailable.value"
)

// MergeDecision says by which rule versions of a record are merged, and why.
type MergeDecision struct {
	// Mode is COMMIT_TIME_ORDERING, EVENT_TIME_ORDERING or CUSTOM.
	Mode string
	// Unknown is the mode that the properties name when it is none of these; Mode is then CUSTOM.
	Unknown string
	// From names the property that decided, or "default"; Why is a sentence.
	From, Why string
	// Payload is the full payload class in force ("" when none takes part), as stored but
	// with today's package name. LegacyPayload is the class that version 9 keeps for
	// information only.
	Payload, LegacyPayload string
	// StrategyID as stored, "" when not.
	StrategyID string
	// OrderingFields as configured; COMMIT_TIME_ORDERING does not look at them.
	OrderingFields []string
	// PartialMode is IGNORE_DEFAULTS, FILL_UNAVAILABLE or ""; UnavailableValue is the marker of the second.
	PartialMode, UnavailableValue string
	// DeleteField and DeleteMarker name the column and the value that make a row a delete, beside _hoodie_is_deleted.
	DeleteField, DeleteMarker string
}

// UnknownMode says where a mode stands that is none of Hudi's, "" when there is none.
func (c *Config) UnknownMode(d MergeDecision) string {
	if d.Unknown == "" {
		return ""
	}
	e, _ := c.Props.Entry(modeKey)
	return fmt.Sprintf("%s, line %d: %s is %.80q, want %s, %s or %s", c.File, e.Line, modeKey, d.Unknown, CommitTimeOrdering, EventTimeOrdering, Custom)
}

// PayloadName is the payload's class name without its package.
func (d MergeDecision) PayloadName() string { return className(d.Payload) }

func className(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// Before1 reports whether a Hudi release ("0.15.0", "1.2.0") is older than 1.0. "" and
// names that are no release count as current.
func Before1(release string) bool {
	major, _, _ := strings.Cut(release, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n < 1
}

// Merge decides how the table's records are merged, by the rules of a Hudi release: "" or
// 1.x for today's, 0.x for the defaults of 0.15 and older (spec timeline.md section 2.3,
// record-merging.md section 2.2).
func Merge(c *Config, hudiRelease string) MergeDecision {
	d := MergeDecision{OrderingFields: c.OrderingFields()}
	payload, payloadFrom := c.first(payloadKey, writePayloadKey)
	if rest, ok := strings.CutPrefix(payload, "com.uber.hoodie"); ok {
		payload = "org.apache.hudi" + rest
	}
	strategy, strategyFrom := c.first(strategyKey, oldStrategyKey)
	d.Payload, d.StrategyID = payload, strategy
	d.LegacyPayload = c.str(legacyPayloadKey, "")

	mode := strings.ToUpper(c.str(modeKey, ""))
	switch {
	case c.Version < 8:
		d.decideByPayload(c, payloadFrom, Before1(hudiRelease))
	case mode != "":
		d.Mode, d.From = mode, modeKey
		d.Why = fmt.Sprintf("The table's properties say %s = %s", modeKey, mode)
		if mode != CommitTimeOrdering && mode != EventTimeOrdering && mode != Custom {
			d.Mode, d.Unknown = Custom, c.str(modeKey, "")
			d.Why += ", which is no mode this program knows; it is taken for CUSTOM"
		}
	default:
		d.infer(payloadFrom, strategyFrom)
	}

	props := c.MergeProperties()
	pick := func(key string) string {
		if v := props[key]; v != "" {
			return v
		}
		return c.str(key, "")
	}
	d.DeleteField, d.DeleteMarker = pick(deleteFieldKey), pick(deleteMarkerKey)
	if c.Version >= 9 {
		d.PartialMode = c.PartialUpdateMode()
		if d.PartialMode == FillUnavailable {
			d.UnavailableValue = pick(unavailableKey)
		}
		if d.Mode != Custom && d.Payload == "" && d.LegacyPayload != "" {
			d.Why += fmt.Sprintf("; the table once had the payload %s, which the mode replaced", className(d.LegacyPayload))
		}
		if d.PartialMode != "" {
			d.Why += "; partial updates: " + d.PartialMode
		}
	} else if d.DeleteField == "" && d.DeleteMarker == "" {
		// Before version 9 these classes imply their delete column.
		switch className(d.Payload) {
		case "AWSDmsAvroPayload":
			d.DeleteField, d.DeleteMarker = "Op", "D"
		case "MySqlDebeziumAvroPayload", "PostgresDebeziumAvroPayload":
			d.DeleteField, d.DeleteMarker = "_change_operation_type", "d"
		}
	}

	switch d.Mode {
	case CommitTimeOrdering:
		d.Why += ": the later commit wins"
		if len(d.OrderingFields) > 0 {
			d.Why += " (the ordering field " + strings.Join(d.OrderingFields, ", ") + " is not looked at)"
		}
	case EventTimeOrdering:
		if len(d.OrderingFields) > 0 {
			d.Why += ": the higher value of " + strings.Join(d.OrderingFields, ", ") + " wins, the later commit when they are equal"
		} else {
			d.Why += ", but there is no ordering field: the later commit wins"
		}
	default:
		switch {
		case d.Payload != "":
			d.Why += ": versions are merged by the rules of " + className(d.Payload)
		case d.StrategyID != "" && d.StrategyID != PayloadBasedStrategy:
			d.Why += ": versions are merged by the user's own code, strategy " + d.StrategyID
		default:
			d.Why += ": versions are merged by the user's own code, which is not named"
		}
	}
	d.Why += "."
	return d
}

// decideByPayload is the rule of versions before 8: the payload class decides, stored or default.
func (d *MergeDecision) decideByPayload(c *Config, from string, before1 bool) {
	if d.Payload == "" {
		d.From = "default"
		if before1 {
			d.Payload = modelPackage + "OverwriteWithLatestAvroPayload"
			d.Why = fmt.Sprintf("Version %d table without %s: Hudi up to 0.15 assumes OverwriteWithLatestAvroPayload (1.x assumes DefaultHoodieRecordPayload)", c.Version, payloadKey)
		} else {
			d.Payload = modelPackage + "DefaultHoodieRecordPayload"
			d.Why = fmt.Sprintf("Version %d table without %s: Hudi 1.x assumes DefaultHoodieRecordPayload (up to 0.15: OverwriteWithLatestAvroPayload)", c.Version, payloadKey)
		}
	} else {
		d.From = from
		d.Why = fmt.Sprintf("Version %d table with %s = %s", c.Version, from, className(d.Payload))
	}
	d.Mode = payloadMode(d.Payload)
}

// infer is the rule for a table of version 8 or later without a mode: as on creation.
func (d *MergeDecision) infer(payloadFrom, strategyFrom string) {
	switch {
	case d.StrategyID != "":
		d.From = strategyFrom
		switch d.StrategyID {
		case EventTimeStrategy:
			d.Mode = EventTimeOrdering
		case CommitTimeStrategy:
			d.Mode = CommitTimeOrdering
		default:
			d.Mode = Custom
		}
		d.Why = fmt.Sprintf("%s is missing; %s = %s", modeKey, strategyFrom, d.StrategyID)
	case d.Payload != "":
		d.From, d.Mode = payloadFrom, payloadMode(d.Payload)
		d.Why = fmt.Sprintf("%s is missing; %s = %s", modeKey, payloadFrom, className(d.Payload))
	case len(d.OrderingFields) > 0:
		d.From, d.Mode = "default", EventTimeOrdering
		d.Why = modeKey + ", a strategy and a payload are missing; a table with an ordering field has event time ordering"
	default:
		d.From, d.Mode = "default", CommitTimeOrdering
		d.Why = modeKey + ", a strategy and a payload are missing; a table without ordering field has commit time ordering"
	}
}

func payloadMode(class string) string {
	switch className(class) {
	case "DefaultHoodieRecordPayload", "EventTimeAvroPayload":
		return EventTimeOrdering
	case "OverwriteWithLatestAvroPayload":
		return CommitTimeOrdering
	}
	return Custom
}
