#!/usr/bin/env node
/* Says so where Node is too old to read the rest. Plain old JavaScript, so that any Node can. */
'use strict'

var node = require('./node-version.cjs')

if (node.isTooOld) {
  var said = [
    'postern: Node ' + process.versions.node + ' is too old, Postern needs ' + node.wanted,
    'hint: install Node ' + node.wanted + ' or newer (https://nodejs.org), then try again',
    'code: environment',
  ]
  process.stderr.write(said.join('\n') + '\n')
  process.exit(1)
}
require('./start.cjs')
