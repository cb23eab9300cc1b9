#!/usr/bin/env node
/*
 * Where Node is too old to read the rest, hands over to the one that `npm ci` installed, or says so
 * where there is none. Plain old JavaScript, so that any Node can read it.
 */
'use strict'

var node = require('./node-version.cjs')

function refuse() {
  var said = [
    'postern: Node ' + process.versions.node + ' is too old, Postern needs ' + node.wanted,
    'hint: install Node ' + node.wanted + ' or newer (https://nodejs.org), then try again',
    'code: environment',
  ]
  process.stderr.write(said.join('\n') + '\n')
  process.exit(1)
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

if (!node.isTooOld) require('./start.cjs')
else if (node.installed === null) refuse()
else handOver(node.installed)
