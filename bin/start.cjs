/* Apart from postern.cjs, since a Node that is too old cannot even read `import()`. */
'use strict'

const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')

const root = join(__dirname, '..')
// A clone runs what it holds, the package what was built from it.
const inClone = existsSync(join(root, 'src', 'main.ts'))
// Beside the code: only who may change that may change what was made of it. Elsewhere there is none.
enableCompileCache(join(root, inClone ? 'node_modules/.cache' : 'dist', 'compiled'))
void import(inClone ? '../src/main.ts' : '../dist/main.js')
