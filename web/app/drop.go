package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// maxDropped bounds how many files of a folder are taken: each costs memory in the page.
const maxDropped = 200_000

// droppedFile is a File object with its path in what was dropped or chosen.
type droppedFile struct {
	path string
	file goapp.Value
}

// takeDrop opens what was dropped: the entries must be taken before the event is over,
// the folders among them are walked after it.
func (r *Root) takeDrop(dt goapp.Value) {
	var entries []goapp.Value
	var files []droppedFile
	items := dt.Get("items")
	for i := range items.Get("length").Int() {
		it := items.Index(i)
		if it.Get("kind").String() != "file" {
			continue
		}
		if it.Get("webkitGetAsEntry").Truthy() {
			if e := it.Call("webkitGetAsEntry"); e.Truthy() {
				entries = append(entries, e)
				continue
			}
		}
		if f := it.Call("getAsFile"); f.Truthy() {
			files = append(files, droppedFile{f.Get("name").String(), f})
		}
	}
	if len(entries)+len(files) == 0 {
		return
	}
	r.s.dispatch(func() { r.notice = &notice{"", text.T("Reading the list of files…")} })
	go func() {
		walked, err := walkEntries(entries, func(n int) {
			r.s.dispatch(func() { r.notice = &notice{"", text.F("Reading the list of files: %s", model.Count(int64(n)))} })
		})
		label := ""
		if len(entries) == 1 {
			label = entries[0].Get("name").String()
		} else if len(entries) == 0 && len(files) == 1 {
			label = files[0].path
		}
		r.s.dispatch(func() {
			if err != nil {
				r.notice = &notice{"bad", text.F("The folder could not be read: %s", err.Error())}
				return
			}
			r.openFiles(append(files, walked...), label)
		})
	}()
}

// takeInput opens the files chosen with an <input type="file">.
func (r *Root) takeInput(input goapp.Value) {
	list := input.Get("files")
	var files []droppedFile
	label := ""
	for i := range list.Get("length").Int() {
		f := list.Index(i)
		path := f.Get("webkitRelativePath").String()
		if path == "" {
			path = f.Get("name").String()
			label = path
		} else if label == "" {
			label = firstPart(path)
		}
		files = append(files, droppedFile{path, f})
	}
	// The same choice again must be an event again.
	input.Set("value", "")
	if len(files) == 0 && !input.Get("webkitdirectory").Truthy() {
		return // no file was chosen
	}
	r.openFiles(files, label)
}

func firstPart(path string) string {
	for i := range len(path) {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return path
}

// quoted is the name of a folder in quotes; the browser doesn't name an empty one that was chosen.
func quoted(label string) string {
	if label == "" {
		return ""
	}
	return "“" + label + "”"
}

func (r *Root) openFiles(files []droppedFile, label string) {
	if len(files) == 0 {
		r.notice = &notice{"bad", text.F("%s is empty: there is no file in it. Drop the folder that holds “.hoodie”.", strings.TrimSpace("The folder "+quoted(label)))}
		return
	}
	r.openArray(fileArray(files), label)
}

// fileArray is what the engine takes: an array of {path, file}.
func fileArray(files []droppedFile) goapp.Value {
	array := goapp.Window().Get("Array").New()
	for _, f := range files {
		o := goapp.Window().Get("Object").New()
		o.Set("path", f.path)
		o.Set("file", f.file)
		array.Call("push", o)
	}
	return array
}

// replaceDrop puts other files in the place of those that were dropped, such as a bundle whose URLs
// are valid for longer, and reads the table again.
func (r *Root) replaceDrop(name string, files []droppedFile) {
	r.engine.Drop(name, files[0].path, fileArray(files))
	r.notice = nil
	r.s.reload()
}

func (r *Root) openArray(array goapp.Value, label string) {
	r.drops++
	name := "drop:" + strconv.Itoa(r.drops)
	r.engine.Drop(name, label, array)
	r.notice = nil
	r.navigate(model.State{Table: name, View: model.Timeline})
}

// walkEntries lists the files below dropped entries. Paths begin with the entry's name.
func walkEntries(entries []goapp.Value, told func(int)) ([]droppedFile, error) {
	var (
		mu    sync.Mutex
		out   []droppedFile
		first error
		wg    sync.WaitGroup
		slots = make(chan struct{}, 48)
	)
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = err
		}
	}
	stopped := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return first != nil
	}
	var walk func(e goapp.Value, path string)
	walk = func(e goapp.Value, path string) {
		defer wg.Done()
		if stopped() {
			return
		}
		slots <- struct{}{}
		if !e.Get("isDirectory").Bool() {
			f, err := call(e, "file")
			<-slots
			if err != nil {
				fail(fmt.Errorf("%s: %w", path, err))
				return
			}
			mu.Lock()
			out = append(out, droppedFile{path, f})
			n := len(out)
			mu.Unlock()
			if n%500 == 0 {
				told(n)
			}
			if n > maxDropped {
				fail(fmt.Errorf("it holds more than %s files; serve it over HTTP instead", model.Count(maxDropped)))
			}
			return
		}
		reader := e.Call("createReader")
		var kids []goapp.Value
		for {
			// A reader gives up to 100 entries at a time, then none.
			batch, err := call(reader, "readEntries")
			if err != nil {
				<-slots
				fail(fmt.Errorf("%s: %w", path, err))
				return
			}
			n := batch.Get("length").Int()
			if n == 0 {
				break
			}
			for i := range n {
				kids = append(kids, batch.Index(i))
			}
		}
		<-slots
		for _, k := range kids {
			wg.Add(1)
			go walk(k, path+"/"+k.Get("name").String())
		}
	}
	for _, e := range entries {
		wg.Add(1)
		go walk(e, e.Get("name").String())
	}
	wg.Wait()
	return out, first
}

// call waits for a method that takes a success and an error callback.
func call(o goapp.Value, method string) (goapp.Value, error) {
	type result struct {
		v   goapp.Value
		err error
	}
	done := make(chan result, 1)
	ok := goapp.FuncOf(func(_ goapp.Value, args []goapp.Value) any {
		done <- result{v: args[0]}
		return nil
	})
	bad := goapp.FuncOf(func(_ goapp.Value, args []goapp.Value) any {
		said := text.T("refused")
		if len(args) > 0 && args[0].Truthy() {
			said = args[0].Get("message").String()
		}
		done <- result{err: errors.New(said)}
		return nil
	})
	defer ok.Release()
	defer bad.Release()
	o.Call(method, ok, bad)
	r := <-done
	return r.v, r.err
}

// recentFolder is a folder that was chosen earlier with the browser's own dialog.
type recentFolder struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	At   int64  `json:"at"`
}

// folders is what folders.js gives; it works where the browser has the dialog.
func folders() (goapp.Value, bool) {
	l := goapp.Window().Get("hudiscope")
	if !l.Truthy() {
		return nil, false
	}
	f := l.Get("folders")
	return f, f.Truthy() && f.Get("works").Truthy()
}

// loadFolders reads the list of folders chosen earlier.
func (r *Root) loadFolders() {
	f, ok := folders()
	if !ok {
		return
	}
	go func() {
		said, err := await(f.Call("list"))
		var list []recentFolder
		if err != nil || json.Unmarshal([]byte(said.String()), &list) != nil {
			return // the browser forbids its storage: nothing is remembered
		}
		r.s.dispatch(func() { r.recent = list })
	}()
}

// folderChooser is the button for a folder: the browser's own dialog where it gives handles that can be
// opened again later, else a file input.
func (r *Root) folderChooser() goapp.UI {
	f, ok := folders()
	if !ok {
		return r.chooser("choose-folder", text.T("Choose a folder"), view.IconFolder, true)
	}
	// The browser refuses its dialog some folders, such as the downloads; the input takes those, too.
	return view.Div("folder-ways", goapp.Button().Type("button").ID("pick-folder").Class("button").Body(view.IconFolder.UI(), goapp.Text(text.T("Choose a folder"))).
		OnClick(func(goapp.Context, goapp.Event) { r.takeFolder(f, func() goapp.Value { return f.Call("pick") }) }),
		r.chooser("choose-folder", text.T("Choose a folder, just this once"), view.IconFolder, true))
}

// takeFolder opens the folder whose handle get's promise gives.
func (r *Root) takeFolder(f goapp.Value, get func() goapp.Value) {
	promise := get() // at once: the browser wants the user's click to be recent
	go func() {
		fail := func(said string) { r.s.dispatch(func() { r.notice = &notice{"bad", said} }) }
		handle, err := await(promise)
		switch {
		case err != nil:
			fail(text.F("The folder can't be opened: %s.", err.Error()))
			return
		case !handle.Truthy():
			return // nothing was chosen, or it was not allowed
		}
		name := handle.Get("name").String()
		r.s.dispatch(func() { r.notice = &notice{"", text.T("Reading the list of files…")} })
		told := goapp.FuncOf(func(_ goapp.Value, args []goapp.Value) any {
			n := args[0].Int()
			r.s.dispatch(func() { r.notice = &notice{"", text.F("Reading the list of files: %s", model.Count(int64(n)))} })
			return nil
		})
		defer told.Release()
		array, err := await(f.Call("files", handle, maxDropped, told))
		if err != nil {
			fail(text.F("The folder could not be read: %s.", err.Error()))
			return
		}
		r.s.dispatch(func() {
			if array.Length() == 0 {
				r.openFiles(nil, name)
				return
			}
			r.notice = nil
			r.openArray(array, name)
		})
		r.loadFolders()
	}()
}

// recentFolders lists the folders chosen earlier.
func (r *Root) recentFolders() goapp.UI {
	f, ok := folders()
	if !ok || len(r.recent) == 0 {
		return nil
	}
	var items []goapp.UI
	for _, x := range r.recent {
		items = append(items, goapp.Li().Body(
			goapp.Button().Type("button").Class("button small recent-open").Title(text.T("The browser asks before the page may read it again")).Body(view.IconFolder.UI(), goapp.Text(x.Name)).
				OnClick(func(goapp.Context, goapp.Event) { r.takeFolder(f, func() goapp.Value { return f.Call("again", x.ID) }) }, x.ID),
			view.IconButton(view.IconClose, text.F("Forget %s", x.Name), func(goapp.Context, goapp.Event) {
				promise := f.Call("forget", x.ID)
				go func() {
					_, _ = await(promise)
					r.loadFolders()
				}()
			}, x.ID)))
	}
	return view.Div("recent", goapp.H2().Class("recent-title").Text(text.T("Recent folders")), goapp.Ul().Class("recent-list").Body(items...))
}
