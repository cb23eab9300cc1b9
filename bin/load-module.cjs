/*
 * Loads what the package exports, for `import` and `require` alike: an ES module would be read whole
 * before anything could say that Node is too old for it. Plain old JavaScript, so that any Node can.
 */
'use strict'

var path = require('path')
var node = require('./node-version.cjs')

function refuse(message) {
  var error = new Error(message)
  error.code = 'environment'
  return error
}

module.exports = function loadModule(name) {
  if (node.isTooOld) {
    var needs = 'postern/' + name + ' needs Node ' + node.wanted + ' or newer'
    throw refuse(needs + ', and this is Node ' + process.versions.node + ' (https://nodejs.org)')
  }
  if (!node.isClone) return require(path.join(node.root, 'dist', name, 'index.js'))
  if (node.lacksLibraries) {
    var missing = 'postern/' + name + ' needs its libraries: run `npm ci` in '
    throw refuse(missing + node.root + ' first')
  }
  return require(path.join(node.root, 'src', name, 'index.ts'))
}
