package object

import (
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

// savedAround reports whether the source closes the window around the step of s with
// user_access_save() and user_access_restore(). On arm64 both are empty
// (arch/arm64/include/asm/uaccess.h) and leave nothing in the object: what is called
// between them is called with the window open, as the architecture wants it.
func (o *object) savedAround(s *spot) bool {
	if o.arch.control != isa.TTBR0 || s.Rule != window.CallInWindow && s.Rule != window.OpenTwice {
		return false
	}
	for line := s.Line; line > 0 && line > s.Line-maxSaved; line-- {
		text := o.text(s.File, line)
		save, restore := strings.LastIndex(text, "user_access_save("), strings.LastIndex(text, "user_access_restore(")
		switch {
		case save > restore:
			return true
		case restore >= 0 && line != s.Line, strings.HasPrefix(text, "}"):
			return false // behind it, or the end of another function
		}
	}
	return false
}

// maxSaved bounds the lines of a function that are searched backwards.
const maxSaved = 200
