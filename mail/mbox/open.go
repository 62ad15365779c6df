package mbox

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Open returns the mails of path: a file that Read takes, "-" for standard input, a
// maildir, or a directory of mails, in the order of their names.
//
// Errors that do not end the reading wrap ErrTooLarge, as those of Read.
func Open(path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if path == "-" {
			Read(os.Stdin)(yield)
			return
		}
		info, err := os.Stat(path)
		if err != nil {
			yield(nil, fmt.Errorf("opening mails: %w", err))
			return
		}
		files := []string{path}
		if info.IsDir() {
			if files, err = listDir(path); err != nil {
				yield(nil, err)
				return
			}
		}
		for _, file := range files {
			if !readFile(file, yield) {
				return
			}
		}
	}
}

func readFile(file string, yield func([]byte, error) bool) (goOn bool) {
	f, err := os.Open(file)
	if err != nil {
		return yield(nil, fmt.Errorf("opening mails: %w", err)) && false
	}
	defer f.Close()
	for mail, err := range Read(f) {
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
		if !yield(mail, err) {
			return false
		}
	}
	return true
}

// listDir returns the files that hold mails: of a maildir what is in cur and new,
// never tmp, where mails are that are still being delivered.
func listDir(dir string) ([]string, error) {
	var files []string
	places := []string{dir}
	if isMaildir(dir) {
		places = []string{filepath.Join(dir, "cur"), filepath.Join(dir, "new")}
	}
	for _, place := range places {
		entries, err := os.ReadDir(place)
		if err != nil {
			return nil, fmt.Errorf("listing mails: %w", err)
		}
		for _, e := range entries {
			if e.Type()&fs.ModeType == 0 && !strings.HasPrefix(e.Name(), ".") {
				files = append(files, filepath.Join(place, e.Name()))
			}
		}
	}
	return files, nil
}

func isMaildir(dir string) bool {
	for _, sub := range []string{"cur", "new"} {
		if info, err := os.Stat(filepath.Join(dir, sub)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
