package compat

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// TestJavaPage runs the Java code of the page for users of mongo-java-server, unchanged: a
// class, and then the code that uses it.
func TestJavaPage(t *testing.T) {
	t.Parallel()
	needs.Client(t, "java", "mvn")
	text, err := os.ReadFile(filepath.Join("..", "docs", "from-mongo-java-server.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```java\n(.*?)^```$").FindAllSubmatch(text, -1)
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of Java, not a class and its use", len(blocks))
	}
	const imports = "import java.io.*; import java.util.*; import java.util.concurrent.*;\n" +
		"import com.mongodb.client.*; import com.mongodb.client.model.*; import org.bson.Document;\n"
	program := imports + "class Page { public static void main(String[] args) throws Exception {\n" + string(blocks[1][1]) + "}}\n" + string(blocks[0][1])
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Page.java"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(dir, "duskdb")); err != nil {
		t.Fatal(err)
	}
	jars := filepath.Join(javaClients.path(t), "lib", "*")
	path := "PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH")
	client{args: []string{"java", "-ea", "-cp", jars, filepath.Join(dir, "Page.java")}, env: []string{path}}.output(t)
}
