// Khronos validator over GLB files: prints what it finds, as JSON per file, and fails at the first error or warning.
// usage: node validate.mjs FILE.glb ...   (with node_modules beside this file: npm ci)
import { readFileSync } from "node:fs";
import { validateBytes } from "gltf-validator";

let bad = false;
for (const file of process.argv.slice(2)) {
  const { issues, info } = await validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 20 });
  bad = bad || issues.numErrors > 0 || issues.numWarnings > 0;
  console.log(JSON.stringify({ file, issues, info }, null, 1));
}
process.exit(bad ? 1 : 0);
