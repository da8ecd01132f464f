// Package idbkept is the store of kept files (package kept) in the browser's IndexedDB, within a limit:
// the pieces that were not used for longest make room for new ones. Whether anything is kept, and how
// much, the user decides; that is remembered there, too. It holds nothing on other platforms.
package idbkept

// Limit is how many bytes are kept unless the user says otherwise.
const Limit = 256 << 20
