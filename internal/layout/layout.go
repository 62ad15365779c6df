// Package layout holds the house rules on which package may import which: its
// test reads every import of the module. CONTRIBUTING.md draws the same rules.
package layout
