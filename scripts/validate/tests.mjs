// Fails where a CTRF or TAP document is not one. Arguments: `ctrf` or `tap`, the directory of the tools, the documents.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [kind, tools, ...documents] = process.argv.slice(2);
const require = createRequire(`${tools}/`);
const problems = documents.length ? [] : ["there is no document"];

function ctrf(text) {
  require("ctrf").validateStrict(JSON.parse(text));
}

// Strict: whatever is not TAP is an error. That a test failed is none.
function tap(text) {
  const { Parser } = require("tap-parser");
  const strict = new Parser({ strict: true });
  const wrong = [];
  strict.on("complete", (results) => {
    wrong.push(...results.failures.filter((failure) => failure.tapError).map((failure) => failure.tapError));
    const points = text.split("\n").filter((line) => /^(not )?ok /.test(line)).length;
    if (results.count !== points || results.plan.end !== points) {
      wrong.push(`${points} points are planned, ${results.count} were read`);
    }
  });
  strict.end(text);
  if (wrong.length) throw new Error(wrong.join("; "));
}

for (const document of documents) {
  try {
    ({ ctrf, tap })[kind](readFileSync(document, "utf-8"));
  } catch (error) {
    problems.push(`${document}: ${error.message}`);
  }
}
console.log(problems.join("\n"));
process.exit(problems.length ? 1 : 0);
