/* Which Node Postern needs, and which one this is. Plain old JavaScript, so that any Node can read it. */
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

exports.wanted = manifest.engines.node.replace('>=', '')
exports.isTooOld = isOlder(process.versions.node, manifest.engines.node)
