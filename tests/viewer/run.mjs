// node run.mjs FILE: runs a file of tests, or says in words why not. Exit 77: not run.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { findChromium, isotact, kHere } from './support.mjs';

function skip(why) {
  console.log(`SKIPPED: ${why}`);
  process.exit(77);
}

const file = process.argv[2];
const { viewer, webassembly } = JSON.parse(isotact('doctor', '--json'));
if (!viewer.startsWith('built in')) skip(`the viewer is ${viewer}`);
if (file === 'query.test.mjs' && !webassembly.startsWith('built in'))
  skip(`WebAssembly is ${webassembly}`);
if (['pages.test.mjs', 'pair.test.mjs'].includes(file)) {
  if (!findChromium()) skip('there is no Chromium (scripts/deps viewer installs it)');
  if (!existsSync(join(process.env.ISOTACT_NODE_MODULES, 'node_modules/playwright-core')))
    skip('npm could not fetch playwright-core when this was built');
}
const { status } = spawnSync(process.execPath, ['--test', join(kHere, file)], { stdio: 'inherit' });
process.exit(status ?? 1);
