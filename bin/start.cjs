/* Apart from postern.cjs, since a Node that is too old cannot even read `import()`. */
'use strict'

const { existsSync } = require('node:fs')
const { join } = require('node:path')

// A clone runs what it holds, the package what was built from it.
const inClone = existsSync(join(__dirname, '..', 'src', 'main.ts'))
void import(inClone ? '../src/main.ts' : '../dist/main.js')
