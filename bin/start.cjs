/* Apart from postern.cjs, since a Node that is too old cannot even read `import()`. */
'use strict'

const { enableCompileCache } = require('node:module')
const path = require('node:path')
const { isClone, root } = require('./node-version.cjs')

/*
 * What a sidecar and a sandbox run with, which is read before a program begins: little memory for
 * what is young, all of it from the start and collected by one thread (others would be woken for a
 * fraction of a millisecond); no collection of the whole heap while it starts, and at rest later ones
 * before the heap grows; freed memory given back, but for what a socket reads (64 KiB), which is asked
 * for too often; no debugger on SIGUSR1, no environment in reports of a crash.
 */
const OPTIONS = [
  '--min-semi-space-size=2',
  '--max-semi-space-size=2',
  '--initial-heap-size=48',
  '--no-parallel-scavenge',
  '--memory-saver-mode',
  '--disable-sigusr1',
  '--report-exclude-env',
]
const MEMORY = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '69632',
}

/* The same process begins anew with them. Where that cannot be, it runs without. */
function beginAnew() {
  const [node, ...rest] = process.argv
  const warn = process.emitWarning.bind(process)
  process.emitWarning = () => {}
  try {
    const env = { ...MEMORY, ...process.env }
    process.execve(process.execPath, [node, ...process.execArgv, ...OPTIONS, ...rest], env)
  } catch {
    process.emitWarning = warn
  }
}

const args = process.argv.slice(process.argv[2] === '--config' ? 4 : 2)
const command = args.find((arg) => !arg.startsWith('-')) ?? 'run'
const next = args[args.indexOf(command) + 1]
// What stands behind `sandbox` and is no option only asks one that runs.
const isAsked = args.some((arg) => ['-h', '--help', '-V', '--version'].includes(arg))
const staysLong =
  !isAsked && (command === 'run' || (command === 'sandbox' && (next ?? '-').startsWith('-')))
const isAnew = OPTIONS.every((option) => process.execArgv.includes(option))
if (staysLong && !isAnew && process.platform === 'linux') beginAnew()

// Beside the code: only who may change that may change what was made of it. Elsewhere there is none.
enableCompileCache(path.join(root, isClone ? 'node_modules/.cache' : 'dist', 'compiled'))
// oxlint-disable-next-line typescript/no-floating-promises -- main.ts reports its own errors
void import(isClone ? '../src/main.ts' : '../dist/main.js')
