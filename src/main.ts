#!/usr/bin/env node
/** The edge of the process: arguments and signals in, exit code out. */
import { runProgram } from './cli/program.ts'
import { exitCodeOf, flush, printError } from './cli/terminal.ts'
import { requestReload, requestShutdown, signalPolicy } from './cli/signals.ts'

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  let asked = false
  process.on(signal, () => {
    if (asked || !signalPolicy.handlesShutdown) process.exit(1)
    asked = true
    requestShutdown()
  })
}
// The terminal was closed. The signal arrives twice where the shell forwards it.
process.on('SIGHUP', () => {
  if (signalPolicy.outlivesTerminal) return requestReload()
  if (!signalPolicy.handlesShutdown) process.exit(1)
  requestShutdown()
})
// It would open the inspector.
process.on('SIGUSR1', () => {})

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    printError(error)
    process.exit(1)
  })
}

let code = 0
try {
  await runProgram(process.argv.slice(2))
} catch (error) {
  printError(error)
  code = exitCodeOf(error)
}
await flush()
process.exit(code)
