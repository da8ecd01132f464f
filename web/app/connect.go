package app

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// dialogAccess is the dialog that asks for the keys of the store that is open.
const dialogAccess = "access"

// bundleTab is the tab for bundles of presigned URLs, beside those of the kinds of stores.
const bundleTab model.StoreKind = "bundle"

// openerTabs are the ways to open a table that is not on this machine.
var openerTabs = []model.StoreKind{model.NoStore, model.S3, model.Azure, model.GCS, model.Signer, bundleTab}

func tabTitle(k model.StoreKind) string {
	if k == bundleTab {
		return text.T("Bundle")
	}
	return text.T(k.Title())
}

// field is an input of the forms of stores. Its value stays in the document until the form is sent.
type field struct {
	id, label, hint string
	secret          bool
	wide            bool
	choices         [][2]string // value and text
	check           bool
	// get is the value to show at first.
	get func(model.Store) string
}

var (
	fBucket   = field{id: "bucket", label: text.Key("Bucket"), hint: "my-bucket", get: func(s model.Store) string { return s.Bucket }}
	fPrefix   = field{id: "prefix", label: text.Key("Folder in it"), hint: "lake/trips", get: func(s model.Store) string { return s.Prefix }}
	fEndpoint = field{id: "endpoint", label: text.Key("Endpoint"), hint: text.Key("the cloud’s own"), get: func(s model.Store) string { return s.Endpoint }}
)

// placeFields say where the table is, by kind of store; keyFields what a private store asks for.
var placeFields = map[model.StoreKind][]field{
	model.S3: {fBucket, fPrefix,
		{id: "endpoint", label: text.Key("Endpoint"), hint: text.Key("Amazon’s, or https://minio.example.com"), get: fEndpoint.get},
		{id: "region", label: text.Key("Region"), hint: text.Key("found out, or eu-west-1"), get: func(s model.Store) string { return s.Region }},
		{id: "style", label: text.Key("Address style"), choices: [][2]string{{"", text.Key("As usual there")}, {"path", text.Key("Path: host/bucket")}, {"virtual", text.Key("Virtual: bucket.host")}}, get: func(s model.Store) string { return s.Style }},
		{id: "pays", label: text.Key("I pay for the requests (requester pays)"), check: true, get: func(s model.Store) string {
			if s.RequesterPays {
				return "true"
			}
			return ""
		}}},
	model.Azure: {
		{id: "container", label: text.Key("Address of the container and folder"), hint: "https://ACCOUNT.blob.core.windows.net/container/lake/trips", wide: true, get: func(s model.Store) string {
			if s.Account == "" {
				return ""
			}
			s.Endpoint = ""
			return s.Location()
		}},
		fEndpoint},
	model.GCS: {fBucket, fPrefix,
		{id: "project", label: text.Key("Project that pays"), hint: text.Key("only where requesters pay"), get: func(s model.Store) string { return s.Project }}, fEndpoint},
	model.Signer: {
		{id: "endpoint", label: text.Key("Address of the signer"), hint: "https://sign.example.com/hudi", wide: true, get: fEndpoint.get},
		{id: "prefix", label: text.Key("Folder in the store"), hint: "lake/trips", wide: true, get: fPrefix.get}},
}

var keyFields = map[model.StoreKind][]field{
	model.S3: {{id: "key", label: text.Key("Access key ID"), secret: true}, {id: "secret", label: text.Key("Secret access key"), secret: true},
		{id: "session", label: text.Key("Session token, for temporary keys"), secret: true, wide: true}},
	model.Azure:  {{id: "sas", label: text.Key("Shared access signature (sp=rl)"), hint: "sv=…&sp=rl&sig=…", secret: true, wide: true}},
	model.GCS:    {{id: "token", label: text.Key("OAuth access token"), hint: "gcloud auth print-access-token", secret: true, wide: true}},
	model.Signer: {{id: "auth", label: text.Key("Authorization header"), hint: "Bearer …", secret: true, wide: true}, {id: "get", label: text.Key("Ask with GET instead of POST"), check: true, wide: true}},
}

// keysTitle names what a private store asks for.
func keysTitle(k model.StoreKind) string {
	switch k {
	case model.S3:
		return text.T("Keys, for a private bucket")
	case model.Azure:
		return text.T("Signature, for a private container")
	case model.GCS:
		return text.T("Token, for a private bucket")
	}
	return text.T("Authorization, if the signer asks for it")
}

var keysNote = text.Key("They stay in this tab’s memory: not in the address, not in the browser’s storage, not in a log. Reloading the page forgets them. Prefer temporary ones that can only list and read.")

func fieldUI(form string, f field) goapp.UI {
	id := form + "-" + f.id
	class := "store-field"
	if f.wide {
		class += " wide"
	}
	if f.check {
		return goapp.Label().Class("store-check", class).For(id).Body(goapp.Input().Type("checkbox").ID(id), goapp.Span().Text(text.T(f.label)))
	}
	var in goapp.UI
	if f.choices != nil {
		var opts []goapp.UI
		for _, c := range f.choices {
			opts = append(opts, goapp.Option().Value(c[0]).Text(text.T(c[1])))
		}
		in = goapp.Select().ID(id).Class("select").Body(opts...)
	} else {
		kind := "text"
		if f.secret {
			kind = "password"
		}
		in = goapp.Input().ID(id).Type(kind).Class("input mono").Placeholder(text.T(f.hint)).AutoComplete(false).Spellcheck(false).
			Attr("autocapitalize", "off").Attr("data-1p-ignore", "").Attr("data-lpignore", "true")
	}
	return goapp.Label().Class(class).For(id).Body(goapp.Span().Text(text.T(f.label)), in)
}

// setFields writes the values of a form's fields; those of secrets are emptied.
func setFields(form string, s model.Store) {
	set := func(f field, value string) {
		el := goapp.Window().GetElementByID(form + "-" + f.id)
		switch {
		case !el.Truthy():
		case f.check:
			el.Set("checked", value != "")
		default:
			el.Set("value", value)
		}
	}
	for _, f := range placeFields[s.Kind] {
		set(f, f.get(s))
	}
	for _, f := range keyFields[s.Kind] {
		set(f, "")
	}
}

func fieldValue(form, id string) string {
	el := goapp.Window().GetElementByID(form + "-" + id)
	if !el.Truthy() {
		return ""
	}
	if el.Get("type").String() == "checkbox" {
		if el.Get("checked").Truthy() {
			return "true"
		}
		return ""
	}
	return strings.TrimSpace(el.Get("value").String())
}

// readStore reads the place from a form. wrong says what is missing.
func readStore(form string, kind model.StoreKind) (s model.Store, wrong string) {
	v := func(id string) string { return fieldValue(form, id) }
	if kind == model.Azure {
		typed, _ := model.StripCredentials(v("container"))
		s = model.ParseStore(typed)
		s.Kind, s.Endpoint = kind, v("endpoint")
		if s.Location() == "" {
			return s, text.T("Type the address of the container: https://ACCOUNT.blob.core.windows.net/container/folder, or abfss://container@ACCOUNT.dfs.core.windows.net/folder.")
		}
		return s, ""
	}
	s = model.Store{Kind: kind, Bucket: v("bucket"), Prefix: v("prefix"), Endpoint: v("endpoint"), Region: v("region"), Style: v("style"), RequesterPays: v("pays") != "", Project: v("project")}
	if b, rest, ok := strings.Cut(s.Bucket, "://"); ok && (b == "s3" || b == "s3a" || b == "gs") {
		var p string
		s.Bucket, p, _ = strings.Cut(rest, "/")
		if s.Prefix == "" {
			s.Prefix = p
		}
	}
	if s.Location() == "" {
		if kind == model.Signer {
			return s, text.T("Type the address of the signer: it begins with https://.")
		}
		return s, text.T("Type the name of the bucket.")
	}
	if strings.ContainsAny(s.Endpoint, "@?#") && kind != model.Signer {
		return s, text.T("The endpoint is a plain address such as https://minio.example.com; keys have fields of their own.")
	}
	return s, ""
}

// readAccess reads what a private store is opened with, and empties its fields.
func readAccess(form string, kind model.StoreKind) (a api.StoreAccess, wrong string) {
	v := func(id string) string { return fieldValue(form, id) }
	switch kind {
	case model.S3:
		a.AccessKey, a.Secret, a.SessionToken = v("key"), v("secret"), v("session")
		if (a.AccessKey == "") != (a.Secret == "") || a.SessionToken != "" && a.Secret == "" {
			return a, text.T("An access key goes with its secret. Give both, or none for a public bucket.")
		}
	case model.Azure:
		a.SAS = v("sas")
		// The signature may have been pasted together with the address.
		if _, query, ok := strings.Cut(v("container"), "?"); ok && a.SAS == "" {
			a.SAS = query
		}
		a.SAS = strings.TrimPrefix(a.SAS, "?")
	case model.GCS:
		a.Token = strings.TrimSpace(strings.TrimPrefix(v("token"), "Bearer "))
	case model.Signer:
		a.Authorization, a.SignerGet = v("auth"), v("get") != ""
	}
	for _, f := range keyFields[kind] {
		if el := goapp.Window().GetElementByID(form + "-" + f.id); f.secret && el.Truthy() {
			el.Set("value", "")
		}
	}
	return a, ""
}

// openStore opens a table in a store. What it is opened with goes to the engine alone.
func (r *Root) openStore(location string, a api.StoreAccess) {
	r.engine.Store(location, a)
	r.notice = nil
	r.s.accessFault = nil
	go func() {
		// A table that was opened with other keys, or without, is opened anew.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, _ = client.Call[api.CloseAnswer](ctx, r.s.transport, api.OpClose, api.CloseRequest{Table: api.Table{Location: location}}, nil)
		r.s.dispatch(func() {
			if r.s.state.Table == location {
				r.s.resetAll()
				r.s.ensure()
				return
			}
			r.open(location)
		})
	}()
}

// storeForm opens tables in object stores, and by address. It is a part of the home page.
type storeForm struct {
	goapp.Compo

	Root *Root
	Rev  int

	kind  model.StoreKind
	wrong string
}

const openForm = "open"

func (v *storeForm) OnMount(ctx goapp.Context) {
	v.Root.barred = ""
	v.fill(ctx)
}

func (v *storeForm) OnUpdate(ctx goapp.Context) { v.fill(ctx) }

// fill shows the place that was typed as an address.
func (v *storeForm) fill(ctx goapp.Context) {
	s := v.Root.typed
	if s.Kind == model.NoStore {
		return
	}
	v.Root.typed = model.Store{}
	v.kind, v.wrong = s.Kind, ""
	v.Update()
	ctx.Defer(func(goapp.Context) {
		setFields(openForm, s)
		focus(openForm + "-" + keyFields[s.Kind][0].id)
	})
}

func focus(id string) {
	if el := goapp.Window().GetElementByID(id); el.Truthy() {
		el.Call("focus")
	}
}

func (v *storeForm) choose(ctx goapp.Context, k model.StoreKind, tab bool) {
	v.kind, v.wrong = k, ""
	v.Update()
	ctx.Defer(func(goapp.Context) {
		setFields(openForm, model.Store{Kind: k}) // the browser may use the elements of another kind again
		if tab {
			focus("way-" + string(k))
		}
	})
}

func (v *storeForm) Render() goapp.UI {
	var tabs []goapp.UI
	at := 0
	for i, k := range openerTabs {
		class, index := "seg", -1
		if k == v.kind {
			class, index, at = "seg current", 0, i
		}
		tabs = append(tabs, goapp.Button().Type("button").ID("way-"+string(k)).Class(class).Role("tab").TabIndex(index).Aria("selected", k == v.kind).Aria("controls", "way-panel").
			Text(tabTitle(k)).OnClick(func(ctx goapp.Context, _ goapp.Event) { v.choose(ctx, k, true) }, k))
	}
	return view.Div("opener-ways",
		goapp.Div().Class("segmented engines").Role("tablist").Aria("label", text.T("Where the table is")).Body(tabs...).OnKeyDown(func(ctx goapp.Context, e goapp.Event) {
			n := len(openerTabs)
			switch e.Get("key").String() {
			case "ArrowRight":
				v.choose(ctx, openerTabs[(at+1)%n], true)
			case "ArrowLeft":
				v.choose(ctx, openerTabs[(at+n-1)%n], true)
			}
		}, at),
		goapp.Div().ID("way-panel").Role("tabpanel").Aria("labelledby", "way-"+string(v.kind)).Class("way-panel").Body(v.panel()),
	)
}

func (v *storeForm) panel() goapp.UI {
	switch v.kind {
	case model.NoStore:
		return v.Root.addressForm()
	case bundleTab:
		return v.bundleForm()
	}
	kind := v.kind
	var place, keys []goapp.UI
	for _, f := range placeFields[kind] {
		place = append(place, fieldUI(openForm, f))
	}
	for _, f := range keyFields[kind] {
		keys = append(keys, fieldUI(openForm, f))
	}
	return goapp.Form().Class("store-form").AutoComplete(false).Body(view.Group(
		view.Div("store-fields", place...),
		goapp.FieldSet().Class("store-keys").Body(goapp.Legend().Text(keysTitle(kind)), view.Div("store-fields", keys...), goapp.P().Class("dim").Text(text.T(keysNote))),
		wrongUI(v.wrong),
		view.Div("actions", goapp.Button().Type("submit").Class("button primary").Text(text.T("Open"))),
	)...).OnSubmit(func(ctx goapp.Context, e goapp.Event) {
		e.PreventDefault()
		s, wrong := readStore(openForm, kind)
		var a api.StoreAccess
		if wrong == "" {
			a, wrong = readAccess(openForm, kind)
		}
		if v.wrong = wrong; wrong != "" {
			return
		}
		v.Root.openStore(s.Location(), a)
	}, kind)
}

func wrongUI(said string) goapp.UI {
	if said == "" {
		return nil
	}
	return goapp.P().Class("store-wrong").Role("alert").Text(said)
}

// bundleForm opens a bundle of presigned URLs.
func (v *storeForm) bundleForm() goapp.UI {
	return goapp.Form().Class("store-form").Body(view.Group(
		goapp.P().Text(text.T("A bundle is a JSON file with a signed URL for every file of a table: whoever has it can read the table until the URLs end. It holds 2,000 files at most; make one with hudiscope bundle s3://bucket/prefix.")),
		view.Div("actions", v.Root.chooser("choose-bundle", text.T("Choose the file"), view.IconFile, false)),
		goapp.Label().Class("store-field wide").For("bundle-text").Body(goapp.Span().Text(text.T("Or paste it here")),
			goapp.Textarea().ID("bundle-text").Class("input mono").Rows(4).Placeholder(`{"v":1, "base":"trips", "files":{…}}`).Spellcheck(false).Attr("autocomplete", "off")),
		wrongUI(v.wrong),
		view.Div("actions", goapp.Button().Type("submit").Class("button primary").Text(text.T("Open"))),
	)...).OnSubmit(func(ctx goapp.Context, e goapp.Event) {
		e.PreventDefault()
		el := goapp.Window().GetElementByID("bundle-text")
		said := strings.TrimSpace(el.Get("value").String())
		var head struct {
			Base  string                     `json:"base"`
			Files map[string]json.RawMessage `json:"files"`
		}
		if err := json.Unmarshal([]byte(said), &head); err != nil || len(head.Files) == 0 {
			v.wrong = text.T("This is no bundle: it is a JSON object with “files”, and a URL for each of them.")
			return
		}
		v.wrong = ""
		el.Set("value", "")
		name := head.Base
		if i := strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/'); i >= 0 {
			name = strings.TrimSuffix(name, "/")[i+1:]
		}
		if name == "" {
			name = "bundle"
		}
		parts := goapp.Window().Get("Array").New()
		parts.Call("push", said)
		file := goapp.Window().Get("File").New(parts, name+".json")
		v.Root.openFiles([]droppedFile{{name + ".json", file}}, name)
	})
}

// accessForm asks for what the store of a table is opened with: when it refuses, or what it was given
// has ended.
type accessForm struct {
	goapp.Compo

	Root     *Root
	Location string
	// Form names the inputs; Title says why it asks.
	Form, Title string

	wrong string
}

func (v *accessForm) Render() goapp.UI {
	kind := model.KindOfStore(v.Location)
	var keys []goapp.UI
	for _, f := range keyFields[kind] {
		keys = append(keys, fieldUI(v.Form, f))
	}
	return goapp.Form().Class("store-form access-form").AutoComplete(false).Body(view.Group(
		view.Div("access-head", view.IconKey.UI(), goapp.H2().Text(v.Title)),
		goapp.P().Class("mono access-place").Text(v.Location),
		view.Div("store-fields", keys...),
		goapp.P().Class("dim").Text(text.T(keysNote)),
		wrongUI(v.wrong),
		view.Div("actions", goapp.Button().Type("submit").Class("button primary").Text(text.T("Open with these")),
			view.Button("", text.T("Change the place"), func(goapp.Context, goapp.Event) {
				v.Root.typed = model.ParseStore(v.Location)
				v.Root.s.dialog = ""
				v.Root.navigate(model.State{})
			})),
	)...).OnSubmit(func(_ goapp.Context, e goapp.Event) {
		e.PreventDefault()
		a, wrong := readAccess(v.Form, kind)
		if wrong == "" && a.Empty() {
			wrong = text.T("Nothing is filled in.")
		}
		if v.wrong = wrong; wrong != "" {
			return
		}
		closeModal("access-dialog")
		v.Root.openStore(v.Location, a)
	}, v.Location)
}

// accessDialog is accessForm over the page.
type accessDialog struct {
	goapp.Compo
	modal

	Root *Root
	Rev  int
}

func (v *accessDialog) OnMount(ctx goapp.Context) {
	v.show(ctx, "access-dialog", v.Root.s.closing(dialogAccess))
}

func (v *accessDialog) OnDismount() { v.gone() }

func (v *accessDialog) Render() goapp.UI {
	return v.frame("access-dialog", text.T("Access to the store"), &accessForm{Root: v.Root, Location: v.Root.s.state.Table, Form: "dialog", Title: keysTitle(model.KindOfStore(v.Root.s.state.Table))})
}

// accessEnded tells, above the views, that the store no longer takes what it was opened with.
func (r *Root) accessEnded() goapp.UI {
	f := r.s.accessFault
	if f == nil || r.s.overview.val == nil {
		return nil
	}
	var act goapp.UI
	switch {
	case model.KindOfStore(r.s.state.Table) != model.NoStore:
		act = view.Button("small", text.T("Give new ones…"), func(goapp.Context, goapp.Event) { r.s.dialog = dialogAccess })
	default:
		act = r.renewal(f)
	}
	return view.Div("access-ended", view.Group(view.IconKey.UI(), goapp.P().Body(view.Spoken("", f.Message)), act)...)
}

// renewal lets the user give the next bundle when the URLs of one have ended, in place of it.
func (r *Root) renewal(f *api.Fault) goapp.UI {
	if f.Kind != "expired" {
		return nil
	}
	if !strings.HasPrefix(r.s.state.Table, "drop:") {
		return view.Button("small", text.T("Fetch it again"), func(goapp.Context, goapp.Event) { r.s.accessFault = nil; r.s.reload() })
	}
	in := goapp.Input().Type("file").ID("renew-bundle").Class("visually-hidden").Accept(".json,application/json").OnChange(func(ctx goapp.Context, _ goapp.Event) {
		list := ctx.JSSrc().Get("files")
		if list.Length() == 0 {
			return
		}
		file := list.Index(0)
		r.replaceDrop(r.s.state.Table, []droppedFile{{file.Get("name").String(), file}})
	})
	return goapp.Label().Class("button small").For("renew-bundle").Body(view.IconFile.UI(), goapp.Text(text.T("Choose a new bundle")), in)
}

// diagnosis is what was found out about a server that gave no answer that the page may read.
type diagnosis struct {
	// asked is the location, and the number of the request that failed.
	asked string
	busy  bool
	// title and text say it; cors is set when a rule is likely to help.
	title, text string
	cors        bool
	// unsure is set when a refusal by the store looks the same as a missing rule.
	unsure bool
	// without is the address without the user and password that no browser sends.
	without string
}

// probeWait bounds how long a server is waited for.
const probeWait = 8 * time.Second

// diagnose finds out why a server gave no answer, as far as a browser tells.
func (r *Root) diagnose(location string) {
	asked := location + " " + strconv.Itoa(r.s.overview.seq)
	if r.found.asked == asked {
		return
	}
	r.found = diagnosis{asked: asked, busy: true}
	origin := goapp.Window().Get("location").Get("origin").String()
	address := model.Probe(location)
	online := goapp.Window().Get("navigator").Get("onLine")
	set := func(d diagnosis) {
		d.asked = asked
		r.s.dispatch(func() {
			if r.found.asked == asked {
				r.found = d
			}
		})
	}
	host := address
	if _, rest, ok := strings.Cut(address, "://"); ok {
		host, _, _ = strings.Cut(rest, "/")
	}
	without, user := model.WithoutUser(r.fullLocation())
	kind := model.KindOfStore(location)
	go func() {
		switch {
		case user:
			set(diagnosis{title: text.T(userTitle), text: text.T(userText), without: without})
			return
		case online.Type() == goapp.TypeBoolean && !online.Bool() && !local(host):
			set(diagnosis{title: text.T("This browser is offline."), text: text.T("Connect to the network, then try again.")})
			return
		case address == "":
			set(diagnosis{})
			return
		case strings.HasPrefix(address, origin+"/"):
			set(diagnosis{title: text.T("The server of this page does not answer."), text: text.T("It was reached when the page was loaded. Start it again, or check the network.")})
			return
		case strings.HasPrefix(origin, "https:") && strings.HasPrefix(address, "http:") && !local(host):
			set(diagnosis{title: text.T("A page loaded over https can’t read http addresses."), text: text.T("The browser blocks such requests before they are sent. Serve the table over https, or open this page over http: hudiscope serve gives both at one address.")})
			return
		}
		options := goapp.Window().Get("Object").New()
		for k, v := range map[string]string{"mode": "no-cors", "cache": "no-store", "credentials": "omit", "referrerPolicy": "no-referrer"} {
			options.Set(k, v)
		}
		options.Set("signal", goapp.Window().Get("AbortSignal").Call("timeout", probeWait.Milliseconds()))
		began := time.Now()
		_, err := await(goapp.Window().Call("fetch", address, options))
		switch {
		case err == nil && kind != model.NoStore:
			set(diagnosis{cors: true, unsure: true, title: text.F("%s answers, but this page may not read the answer.", host), text: unsureText(kind, origin)})
		case err == nil:
			set(diagnosis{cors: true, title: text.F("%s answers, but does not let this page read the answer (CORS).", host),
				text: text.F("The request arrived and an answer came back; the browser keeps it from the page because the server does not name this page’s origin, %s. Give the server this rule:", origin)})
		case time.Since(began) >= probeWait-time.Second:
			set(diagnosis{title: text.F("%s did not answer within %s seconds.", host, model.Count(int64(probeWait/time.Second))), text: text.T("It is down, a firewall drops the requests, or the port is wrong.")})
		default:
			set(diagnosis{title: text.F("%s could not be reached.", host), text: text.T("The name does not exist, nothing listens at the port, its certificate is not accepted, or something in this browser (an extension, a policy) blocks it. Open the address in a tab of its own: the browser says there which of these it is. A missing CORS rule is not the reason.")})
		}
	}()
}

// unsureText says what an answer of a store that the page may not read can mean.
func unsureText(kind model.StoreKind, origin string) string {
	switch kind {
	case model.S3:
		return text.F("A browser can’t tell why. Three reasons look the same from here: the keys are missing or refused, the region is wrong (set it under “Change the place”), or the bucket has no rule (CORS) for this page’s origin, %s. Many stores leave out of a refusal the headers that would let a page read it.", origin)
	case model.Signer:
		return text.F("A browser can’t tell why. Two reasons look the same from here: the authorization is missing or refused, or the signer or the store behind it has no rule (CORS) for this page’s origin, %s.", origin)
	}
	return text.F("A browser can’t tell why. Two reasons look the same from here: what the store is opened with is missing or refused, or it has no rule (CORS) for this page’s origin, %s.", origin)
}

// What is said of an address with a user and password.
var (
	userTitle = text.Key("A browser does not send a user and password that stand in an address.")
	userText  = text.Key("It refuses such an address before anything is sent, so no setting of the server helps. If the server takes a token in the query (?token=…), use that; it stays in this tab’s memory. Or try the address without them.")
)

// openWithout opens an address whose user and password were left out.
func (r *Root) openWithout(location string) goapp.UI {
	return view.Button("", text.T("Try without user and password"), func(goapp.Context, goapp.Event) {
		r.barred = ""
		r.open(location)
	}, location)
}

// local reports whether a host is this machine, which https pages may read over http.
func local(host string) bool {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "127.") || host == "[::1]"
}

// rulesView shows what the server must be told.
type rulesView struct {
	goapp.Compo

	Location, Origin string

	at int
}

func (v *rulesView) Render() goapp.UI {
	rules := model.Rules(v.Location, v.Origin)
	at := min(v.at, len(rules)-1)
	var tabs []goapp.UI
	for i, x := range rules {
		class, index := "seg", -1
		if i == at {
			class, index = "seg current", 0
		}
		tabs = append(tabs, goapp.Button().Type("button").ID("rule-"+model.Count(int64(i))).Class(class).Role("tab").TabIndex(index).Aria("selected", i == at).Aria("controls", "rule-panel").
			Text(x.Name).OnClick(func(goapp.Context, goapp.Event) { v.at = i }, i))
	}
	step := func(to int) {
		v.at = to
		v.Update()
		focus("rule-" + model.Count(int64(to)))
	}
	return view.Div("rules",
		goapp.Div().Class("segmented engines").Role("tablist").Aria("label", text.T("Kind of server")).Body(tabs...).OnKeyDown(func(_ goapp.Context, e goapp.Event) {
			switch e.Get("key").String() {
			case "ArrowRight":
				step((at + 1) % len(rules))
			case "ArrowLeft":
				step((at + len(rules) - 1) % len(rules))
			}
		}, at, len(rules)),
		goapp.Div().ID("rule-panel").Role("tabpanel").Aria("labelledby", "rule-"+model.Count(int64(at))).Class("rule-panel").Body(
			view.Div("snippet-head", goapp.P().Text(rules[at].How), &view.CopyButton{Label: text.T("Copy"), Text: rules[at].Text, Wide: true}),
			goapp.Pre().ID("rule-text").Class("raw snippet").TabIndex(0).Aria("label", rules[at].Name).Text(rules[at].Text)),
	)
}

// unreachable explains a fault of that kind.
func (r *Root) unreachable() goapp.UI {
	location := r.s.state.Table
	r.diagnose(location)
	d := r.found
	origin := goapp.Window().Get("location").Get("origin").String()
	switch {
	case d.busy:
		return goapp.Div().Class("diagnosis").Role("status").Body(goapp.P().Class("dim").Text(text.T("Finding out why…")))
	case d.title == "":
		return nil
	}
	body := []goapp.UI{goapp.H2().Text(d.title), goapp.P().Text(d.text)}
	if d.without != "" {
		body = append(body, view.Div("actions", r.openWithout(d.without)))
	}
	if d.unsure {
		body = append(body, &accessForm{Root: r, Location: location, Form: "access", Title: keysTitle(model.KindOfStore(location))},
			goapp.H2().Class("diagnosis-rule").Text(text.F("The rule, if it has none for %s", origin)))
	}
	if d.cors {
		body = append(body, &rulesView{Location: location, Origin: origin},
			goapp.P().Class("dim").Text(text.T("Changed rules may take a minute, and the browser may remember the old answer until the page is loaded anew. Or serve the table and this page from one address: hudiscope serve FOLDER.")))
	}
	return goapp.Div().Class("diagnosis").Role("status").DataSet("cors", d.cors).Body(body...)
}

// plainFault leaves out what to try of a fault whose reason was found out: that stands below it.
func (r *Root) plainFault(f *api.Fault) *api.Fault {
	if f.Kind != "unreachable" || r.found.title == "" || !strings.Contains(r.s.state.Table, "://") {
		return f
	}
	plain := *f
	plain.Try = ""
	return &plain
}
