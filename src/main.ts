#!/usr/bin/env node
/** The edge of the process: arguments and signals in, exit code out. */
import { runProgram } from './cli/program.ts'
import { exitCodeOf, flush, printError } from './cli/terminal.ts'
import { handlesShutdown, requestShutdown } from './cli/shutdown.ts'

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  let asked = false
  process.on(signal, () => {
    if (asked || !handlesShutdown()) process.exit(1)
    asked = true
    requestShutdown()
  })
}
// SIGHUP: a terminal that closes does not stop a sidecar. SIGUSR1: would open the inspector.
for (const signal of ['SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => {})

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
