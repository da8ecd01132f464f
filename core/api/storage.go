package api

// OpNetwork asks what was asked of a table's storage. It sends nothing itself.
const OpNetwork Op = "network" // NetworkRequest → Network

// NetworkRequest asks for the requests that were sent for a table since the program started.
type NetworkRequest struct {
	Table
	// Limit is the number of requests listed, 0 for 100, at most 500.
	Limit int `json:"limit,omitempty"`
	// Clear forgets them, after the answer.
	Clear bool `json:"clear,omitempty"`
}

// Network is the answer.
type Network struct {
	// Work is what was done, the latest first, by the name of its request (Op).
	Work []NetworkWork `json:"work"`
	// Requests are the latest of them, the newest first. Those of a local table are not listed.
	Requests []NetworkRequestSent `json:"requests"`
	Total    NetworkTotal         `json:"total"`
	// Memory is what is held of the table in memory.
	Memory NetworkMemory `json:"memory"`
	// Expires is when the addresses end by which the table is read, in milliseconds since 1970, 0 when
	// they do not or it is not known; Renews tells that new ones are got then.
	Expires int64 `json:"expires,omitempty"`
	Renews  bool  `json:"renews,omitempty"`
}

// NetworkTotal sums requests. Bytes are those of answers.
type NetworkTotal struct {
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"`
	// Failed counts requests without an answer or with a status of 400 or more.
	Failed int64 `json:"failed"`
	// Kept counts reads answered from what earlier sessions have kept; KeptBytes are their bytes.
	Kept      int64 `json:"kept"`
	KeptBytes int64 `json:"kept_bytes"`
}

// NetworkWork is what one kind of request to the service asked of the storage.
type NetworkWork struct {
	// Op is the name of the request; Calls is how often it was made.
	Op    string `json:"op"`
	Calls int64  `json:"calls"`
	NetworkTotal
	// Rounds is the number of round trips of the last call: requests of one round do not wait for each
	// other. LastRequests are the requests of that call.
	Rounds       int   `json:"rounds"`
	LastRequests int64 `json:"last_requests"`
}

// NetworkMemory is the cache in memory.
type NetworkMemory struct {
	// Hits counts blocks and listings found in memory, Joined those that came with a request under way.
	Hits   int64 `json:"hits"`
	Joined int64 `json:"joined"`
	// Held are bytes in use; Evicted counts values that made room for others.
	Held    int64 `json:"held"`
	Evicted int64 `json:"evicted"`
	// Reads and Bytes were asked of the storage beneath, of whatever kind it is; Lists among them.
	Reads int64 `json:"reads"`
	Lists int64 `json:"lists"`
	Bytes int64 `json:"bytes"`
}

// NetworkRequestSent is one request.
type NetworkRequestSent struct {
	Seq int64  `json:"seq"`
	Op  string `json:"op"`
	// Method is that of the request, "kept" for a read that was answered without one. Address is that of
	// the request without its query, or the path of a kept file.
	Method  string `json:"method"`
	Address string `json:"address"`
	// From and To are the first and last byte asked for, To is -1 when no range was.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Status is that of the answer, 0 when there was none; Failed says then why.
	Status int    `json:"status,omitempty"`
	Failed string `json:"failed,omitempty"`
	Bytes  int64  `json:"bytes"`
	// At is when it was sent, in milliseconds since 1970; Milliseconds is how long it took.
	At           int64   `json:"at"`
	Milliseconds float64 `json:"ms"`
	Round        int     `json:"round,omitempty"`
	Running      bool    `json:"running,omitempty"`
}

// Kept is what the browser keeps of tables over sessions, as its engine tells.
type Kept struct {
	// On tells whether it keeps files, Works whether this browser lets it; Why says why not.
	On    bool   `json:"on"`
	Works bool   `json:"works"`
	Why   string `json:"why,omitempty"`
	// Bytes and Pieces are kept, at most Limit bytes.
	Bytes  int64 `json:"bytes"`
	Pieces int   `json:"pieces"`
	Limit  int64 `json:"limit"`
}

// KeptRequest changes what the browser keeps; nil fields leave it as it is.
type KeptRequest struct {
	On    *bool  `json:"on,omitempty"`
	Limit *int64 `json:"limit,omitempty"`
	Clear bool   `json:"clear,omitempty"`
}

// StoreAccess is what a private store is opened with. It is handed to the engine beside a location and
// stays in its memory: it is a part of no location, answer or error.
type StoreAccess struct {
	// AccessKey, Secret and SessionToken are keys of S3, the last for temporary ones.
	AccessKey    string `json:"access_key,omitempty"`
	Secret       string `json:"secret,omitempty"`
	SessionToken string `json:"session_token,omitempty"`
	// SAS is a shared access signature of Azure.
	SAS string `json:"sas,omitempty"`
	// Token is an OAuth token for Google Cloud Storage.
	Token string `json:"token,omitempty"`
	// Authorization is the value of that header for a signer; SignerGet asks it with GET.
	Authorization string `json:"authorization,omitempty"`
	SignerGet     bool   `json:"signer_get,omitempty"`
}

// Empty reports whether nothing is given.
func (a StoreAccess) Empty() bool { return a == StoreAccess{} }

// String does not tell any of it.
func (a StoreAccess) String() string { return "store access" }

// GoString does not tell any of it.
func (a StoreAccess) GoString() string { return a.String() }
