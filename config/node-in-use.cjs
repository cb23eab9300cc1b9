/*
 * Prints which Node runs the project's scripts, and which one the system has: `npm ci` and
 * `npm test` call it. Plain old JavaScript, so that any Node can read it.
 */
'use strict'

var fs = require('fs')
var path = require('path')

var folders = (process.env.PATH || '').split(path.delimiter)
var name = process.platform === 'win32' ? 'node.exe' : 'node'
var system = folders
  .filter(function (folder) {
    return folder !== '' && !/node_modules|node-gyp-bin/.test(folder)
  })
  .map(function (folder) {
    return path.join(folder, name)
  })
  .filter(fs.existsSync)[0]

function versionOf(program) {
  var ran = require('child_process').spawnSync(program, ['--version'], { encoding: 'utf8' })
  return String(ran.stdout).trim() || 'one that does not start'
}

var own = /node_modules/.test(process.execPath) ? ', which npm ci installed' : ''
var other = own && system ? '; the system has ' + versionOf(system) : ''
process.stderr.write('Node ' + process.version + own + other + '\n')
