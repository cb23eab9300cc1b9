#!/usr/bin/env node
/*
 * Where Node is too old to read the rest, hands over to the one that `npm ci` installed, and refuses
 * where there is none, or where a clone has no libraries yet. Plain old JavaScript, so that any Node can read it.
 */
'use strict'

var node = require('./node-version.cjs')

function refuse() {
  var said = [
    node.isTooOld
      ? 'postern: Node ' + process.versions.node + ' is too old, Postern needs ' + node.wanted
      : 'postern: its libraries are not installed',
    node.isClone
      ? 'hint: run `npm ci` in ' + node.root + ', which installs the libraries and Node for them'
      : 'hint: install Node ' + node.wanted + ' or newer (https://nodejs.org), then try again',
    'code: environment',
  ]
  process.stderr.write(said.join('\n') + '\n')
  process.exit(2)
}

/* A process of its own, since a Node that is too old cannot become another one. */
function handOver(program) {
  var spawn = require('child_process').spawn
  var child = spawn(program, [__filename].concat(process.argv.slice(2)), { stdio: 'inherit' })
  // A terminal signals both of them.
  var signals = process.stdin.isTTY ? ['SIGTERM'] : ['SIGTERM', 'SIGINT', 'SIGHUP']
  var fromTerminal = process.stdin.isTTY ? ['SIGINT', 'SIGHUP'] : []
  signals.forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal)
    })
  })
  fromTerminal.forEach(function (signal) {
    process.on(signal, function () {})
  })
  child.on('error', refuse)
  child.on('exit', function (code, signal) {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

if (node.isTooOld && node.installed !== null) handOver(node.installed)
else if (node.isTooOld || node.lacksLibraries) refuse()
else require('./start.cjs')
