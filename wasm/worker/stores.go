//go:build js && wasm

package worker

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/kept"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/idbkept"
	"hudiscope/fsadapter/s3"
)

// opKept is a request to the engine itself: what it keeps of tables over sessions.
// api.KeptRequest → api.Kept.
const opKept = "engine.kept"

// access is what private stores are opened with, by location. It is in this memory alone.
type access struct {
	mu sync.Mutex
	m  map[string]api.StoreAccess
}

// add takes over what the page has sent, a JSON text; an empty one forgets a location's.
func (a *access) add(location, text string) {
	var s api.StoreAccess
	if text != "" && json.Unmarshal([]byte(text), &s) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.m == nil {
		a.m = map[string]api.StoreAccess{}
	}
	if s.Empty() {
		delete(a.m, location)
		return
	}
	a.m[location] = s
}

// all is the access to all locations, as it comes from the page.
func (a *access) all() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string]string{}
	for l, s := range a.m {
		if b, err := json.Marshal(s); err == nil {
			out[l] = string(b)
		}
	}
	return out
}

// of returns what a location is opened with: its own, or that of another one of the same store, such
// as a table whose data the location holds.
func (a *access) of(location string) api.StoreAccess {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s, ok := a.m[location]; ok {
		return s
	}
	for l, s := range a.m {
		if storeOf(l) == storeOf(location) && storeOf(l) != "" {
			return s
		}
	}
	return api.StoreAccess{}
}

// storeOf is the beginning of an s3, gs or abfss address that names the store, with its settings; "" for
// others.
func storeOf(location string) string {
	location, settings, _ := strings.Cut(location, "?")
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok || strings.HasPrefix(scheme, "http") || strings.HasPrefix(scheme, "signer") {
		return ""
	}
	bucket, _, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix(scheme, "a") + "://" + bucket + "?" + settings
}

// cacheOptions are the bounds of what is kept of a source and of the requests in flight: a lane has its share.
func cacheOptions() cache.Options {
	if !isLane() {
		return cache.Options{}
	}
	return cache.Options{Budget: cache.DefaultBudget / beside(), InFlight: int(max(cache.DefaultInFlight/beside(), 2))}
}

// options are those of a location.
func (e *engine) options(location string) (string, fsadapter.Options) {
	o := fsadapter.Options{Cache: cacheOptions()}
	a := e.access.of(location)
	if a.AccessKey != "" || a.Secret != "" {
		o.S3.Keys = &s3.Keys{AccessKey: a.AccessKey, Secret: a.Secret, Token: a.SessionToken}
	}
	o.Azure.SAS, o.GCS.Token = a.SAS, a.Token
	o.Signer.Authorization, o.Signer.Get = a.Authorization, a.SignerGet
	o.Keep = func(src storage.Source, place string) storage.Source { return kept.New(src, e.kept, place) }
	location = settingsOf(location, &o)
	return location, o
}

// settingsOf takes the settings behind "?" off an address whose adapter has none: the endpoint of Google's
// and Azure's stores, and who pays.
func settingsOf(location string, o *fsadapter.Options) string {
	plain, query, ok := strings.Cut(location, "?")
	scheme, _, _ := strings.Cut(plain, "://")
	if !ok {
		return location
	}
	v, err := url.ParseQuery(query)
	if err != nil {
		return location
	}
	for name := range v {
		if name != "endpoint" && name != "project" {
			return location
		}
	}
	switch scheme {
	case "gs", "gcs":
		o.GCS.Endpoint, o.GCS.UserProject = v.Get("endpoint"), v.Get("project")
	case "abfs", "abfss", "wasb", "wasbs":
		o.Azure.Endpoint = v.Get("endpoint")
	default:
		return location
	}
	return plain
}

// keeping answers opKept.
func keeping(ctx context.Context, s *idbkept.Store, args string) (api.Kept, error) {
	var req api.KeptRequest
	if args != "" {
		if err := json.Unmarshal([]byte(args), &req); err != nil {
			return api.Kept{}, err
		}
	}
	var err error
	if req.Clear {
		err = s.Clear(ctx)
	}
	if err == nil && (req.On != nil || req.Limit != nil) {
		err = s.Set(ctx, req.On, req.Limit)
	}
	st := s.Status()
	out := api.Kept{On: st.On, Works: st.Err == nil, Bytes: st.Bytes, Pieces: st.Pieces, Limit: st.Limit}
	if err == nil {
		err = st.Err
	}
	if err != nil {
		out.Why = err.Error()
	}
	return out, nil
}
