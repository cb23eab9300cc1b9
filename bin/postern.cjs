#!/usr/bin/env node
/* Says so where Node is too old to read the rest. Plain old JavaScript, so that any Node can. */
'use strict'

var manifest = require('../package.json')

function numbers(version) {
  return version
    .replace(/[^\d.]/g, '')
    .split('.')
    .map(Number)
}

function isOlder(version, wanted) {
  var have = numbers(version)
  var need = numbers(wanted)
  for (var at = 0; at < need.length; at += 1) {
    if (have[at] !== need[at]) return have[at] < need[at]
  }
  return false
}

if (isOlder(process.versions.node, manifest.engines.node)) {
  var wanted = manifest.engines.node.replace('>=', '')
  var said = [
    'postern: Node ' + process.versions.node + ' is too old, Postern needs ' + wanted,
    'hint: install Node ' + wanted + ' or newer (https://nodejs.org), then try again',
    'code: environment',
  ]
  process.stderr.write(said.join('\n') + '\n')
  process.exit(1)
}
require('./start.cjs')
