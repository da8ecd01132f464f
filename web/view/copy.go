package view

import (
	"time"

	"github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/text"
)

// CopyButton copies a text to the clipboard and says so for a moment.
type CopyButton struct {
	app.Compo

	// Text is what is copied; Label names it ("Copy the link").
	Text, Label string
	// Make makes the text when it is copied, where that takes time; Text is then not used.
	Make func() string
	// Icon is another icon than that of copying.
	Icon Icon
	// Wide shows the label beside the icon.
	Wide bool

	done bool
}

// Render implements app.Composer.
func (c *CopyButton) Render() app.UI {
	icon, label := IconCopy, c.Label
	if c.Icon != "" {
		icon = c.Icon
	}
	if c.done {
		icon, label = IconCheck, text.T("Copied")
	}
	if c.Wide {
		return app.Button().Type("button").Class("button small copy").Body(icon.UI(), app.Text(label)).OnClick(c.copy)
	}
	return app.Button().Type("button").Class("icon-button copy").Title(label).Aria("label", label).Body(icon.UI()).OnClick(c.copy)
}

func (c *CopyButton) copy(ctx app.Context, _ app.Event) {
	said := c.Text
	if c.Make != nil {
		said = c.Make()
	}
	clip := app.Window().Get("navigator").Get("clipboard")
	if !clip.Truthy() {
		return
	}
	clip.Call("writeText", said)
	c.done = true
	ctx.After(1500*time.Millisecond, func(app.Context) { c.done = false; c.Update() })
}
