package view

import "github.com/maxence-charriere/go-app/v9/pkg/app"

// Icon is an inline drawing of 20 by 20, in the colour of the text around it.
type Icon string

// UI draws the icon. It is hidden from assistive technology: a label stands beside it.
func (i Icon) UI() app.UI {
	return app.Raw(`<svg class="icon" viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">` + string(i) + `</svg>`)
}

// The icons.
const (
	IconTimeline Icon = `<path d="M3 5h7M7 10h9M4.500 15h6"/><circle cx="13.500" cy="5" r="1.300"/><circle cx="14" cy="15" r="1.300"/>`
	IconFiles    Icon = `<path d="M3 5.500h5.200l1.600 2H17v8.500H3z"/><path d="M6 11.500h8M6 13.800h5"/>`
	IconBlocks   Icon = `<rect x="2.500" y="6.500" width="15" height="7" rx="1"/><path d="M7 6.500v7M9.500 6.500v7M14.500 6.500v7"/>`
	IconRows     Icon = `<rect x="3" y="4" width="14" height="12" rx="1"/><path d="M3 8h14M3 12h14M8 4v12"/>`
	IconTable    Icon = `<path d="M4 5.500h12M4 10h12M4 14.500h7"/><path d="M14 13v3M12.500 14.500h3"/>`
	IconWarning  Icon = `<path d="M10 3.200 17.800 16.500H2.200z"/><path d="M10 8.200v3.800M10 14.200v.1"/>`
	IconInfo     Icon = `<circle cx="10" cy="10" r="7"/><path d="M10 9.200v4.300M10 6.500v.1"/>`
	IconStop     Icon = `<circle cx="10" cy="10" r="7"/><path d="M7.500 7.500l5 5M12.500 7.500l-5 5"/>`
	IconClose    Icon = `<path d="M5 5l10 10M15 5 5 15"/>`
	IconLeft     Icon = `<path d="M12 4.500 6.500 10l5.500 5.500"/>`
	IconRight    Icon = `<path d="M8 4.500 13.500 10 8 15.500"/>`
	IconDown     Icon = `<path d="M4.500 7.500 10 13l5.500-5.500"/>`
	IconCopy     Icon = `<rect x="7" y="7" width="9.500" height="9.500" rx="1.500"/><path d="M4.500 13H3.500V3.500H13v1"/>`
	IconCheck    Icon = `<path d="M4 10.500 8.200 14.500 16 6"/>`
	IconLink     Icon = `<path d="M8.300 11.700a3 3 0 0 0 4.200 0l2.800-2.800a3 3 0 0 0-4.200-4.200l-1 1M11.700 8.300a3 3 0 0 0-4.200 0l-2.800 2.800a3 3 0 0 0 4.200 4.200l1-1"/>`
	IconSun      Icon = `<circle cx="10" cy="10" r="3.300"/><path d="M10 2.200v1.600M10 16.200v1.600M2.200 10h1.600M16.200 10h1.600M4.500 4.500l1.100 1.100M14.400 14.400l1.100 1.100M15.500 4.500l-1.100 1.100M5.600 14.400l-1.100 1.100"/>`
	IconMoon     Icon = `<path d="M16.500 11.800A7 7 0 0 1 8.200 3.500a7 7 0 1 0 8.300 8.300z"/>`
	IconAuto     Icon = `<circle cx="10" cy="10" r="7"/><path d="M10 3v14" /><path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" stroke="none"/>`
	IconHelp     Icon = `<circle cx="10" cy="10" r="7"/><path d="M7.900 8a2.100 2.100 0 1 1 3 1.900c-.6.300-.9.700-.9 1.400M10 13.700v.1"/>`
	IconDrop     Icon = `<path d="M10 3v9M6.500 8.800 10 12.300l3.500-3.500"/><path d="M3.500 12.500v4h13v-4"/>`
	IconFolder   Icon = `<path d="M3 5.500h5.200l1.600 2H17v8.500H3z"/>`
	IconFile     Icon = `<path d="M5 2.800h6.500L15 6.300v10.900H5z"/><path d="M11.200 2.800v3.800H15"/>`
	IconGlobe    Icon = `<circle cx="10" cy="10" r="7"/><path d="M3 10h14M10 3c2.200 2 3.200 4.300 3.200 7S12.200 15 10 17c-2.200-2-3.200-4.300-3.200-7S7.800 5 10 3z"/>`
	IconLadder   Icon = `<path d="M6 3v14M14 3v14M6 6.500h8M6 10h8M6 13.500h8"/>`
	IconCompare  Icon = `<rect x="2.800" y="4" width="6" height="12" rx="1"/><rect x="11.200" y="4" width="6" height="12" rx="1"/><path d="M4.800 8h2M13.200 8h2M13.200 11h2"/>`
	IconHealth   Icon = `<path d="M2.500 10.500h3.500l2-5 3.500 9.500 2.200-4.500h3.800"/>`
	IconMeta     Icon = `<ellipse cx="10" cy="5.200" rx="6" ry="2.200"/><path d="M4 5.200v9.600c0 1.200 2.700 2.200 6 2.200s6-1 6-2.200V5.200M4 10c0 1.200 2.700 2.200 6 2.200s6-1 6-2.200"/>`
	IconPlay     Icon = `<path d="M6.500 4 15.500 10l-9 6z" fill="currentColor"/>`
	IconPause    Icon = `<path d="M7 4.500v11M13 4.500v11" stroke-width="2.600"/>`
	IconFirst    Icon = `<path d="M15 4.500 8.500 10l6.500 5.500M5.500 4.500v11"/>`
	IconLast     Icon = `<path d="M5 4.500 11.500 10 5 15.500M14.500 4.500v11"/>`
	IconKey      Icon = `<circle cx="7" cy="13" r="3"/><path d="M9.200 10.800 15.500 4.500M13 7l2 2"/>`
)

// Logo is the mark of the product, in its own colours.
func Logo() app.UI {
	return app.Raw(`<svg class="logo" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke-linecap="round" aria-hidden="true"><path class="logo-frame" d="M15.4 15.4 21 21" stroke-width="2.6"/><circle class="logo-lens" cx="10" cy="10" r="7.6" stroke-width="2"/><path class="logo-a" d="M6 7.4h5.200" stroke-width="2"/><path class="logo-b" d="M7.800 10.200h6.400" stroke-width="2"/><path class="logo-c" d="M6.600 13h3.400" stroke-width="2"/></svg>`)
}
