// Command release packs the module of a folder as a module proxy serves it, with the checks of golang.org/x/mod/zip:
//
//	release FOLDER VERSION PROXY
//
// A consumer with GOPROXY=file://PROXY gets the packed module with go get.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: release FOLDER VERSION PROXY")
	}
	if err := release(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatalf("release: %v", err)
	}
}

func release(folder, version, proxy string) error {
	gomod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	packed := module.Version{Path: modfile.ModulePath(gomod), Version: version}
	if err := module.Check(packed.Path, version); err != nil {
		return err
	}
	if err := module.CheckImportPath(packed.Path + "/cmd/merkle"); err != nil {
		return err
	}
	escaped, err := module.EscapePath(packed.Path)
	if err != nil {
		return err
	}
	at := filepath.Join(proxy, escaped, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	archive, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		return err
	}
	if err := zip.CreateFromDir(archive, packed, folder); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Now().UTC().Format(time.RFC3339))
	for name, content := range map[string]string{"list": version + "\n", version + ".info": info, version + ".mod": string(gomod)} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	fmt.Println(packed)
	return nil
}
