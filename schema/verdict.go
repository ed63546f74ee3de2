package schema

// Verdict is the outcome of a request, for its sender. An empty Status means that there is
// none yet.
type Verdict struct {
	Status  Status `json:"status,omitempty"`
	Result  Result `json:"result,omitempty"` // empty = derived from the verb's class and the reason
	Reason  Reason `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`  // for people
	Pointer string `json:"pointer,omitempty"` // the place in the request that is at fault
	Refs    []Ref  `json:"refs,omitempty"`    // what it is about, at most MaxRefs; nil = Reason says it all
}
