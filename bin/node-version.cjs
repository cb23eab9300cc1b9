/*
 * Which Node Postern needs, which one this is, and whether `npm ci` was run in a clone. Plain old
 * JavaScript, so that any Node can read it.
 */
'use strict'

var fs = require('fs')
var path = require('path')
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

exports.root = path.join(__dirname, '..')
/* A clone runs what it holds, the package what was built from it. */
exports.isClone = fs.existsSync(path.join(exports.root, 'src', 'main.ts'))
exports.lacksLibraries = exports.isClone && !fs.existsSync(path.join(exports.root, 'node_modules'))

exports.wanted = manifest.engines.node.replace('>=', '')
exports.isTooOld = isOlder(process.versions.node, manifest.engines.node)

/* The Node that `npm ci` installed beside a clone; null where there is none, or it is this one. */
function findInstalled() {
  var isWindows = process.platform === 'win32'
  var name = 'node-' + (isWindows ? 'win' : process.platform) + '-' + process.arch
  var folder = path.join(exports.root, 'node_modules', name, 'bin')
  var program = path.join(folder, isWindows ? 'node.exe' : 'node')
  return fs.existsSync(program) && fs.realpathSync(program) !== process.execPath ? program : null
}

exports.installed = exports.isTooOld ? findInstalled() : null
