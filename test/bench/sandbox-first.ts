/** Starts one sandbox, the first of this process, and prints how many ms that took. */
import { createSandbox } from '../../src/sandbox/create.ts'

const data = process.argv[2]
const startedAt = performance.now()
const sandbox = await createSandbox(data === undefined ? {} : { data })
const ms = performance.now() - startedAt
await sandbox[Symbol.asyncDispose]()
process.stdout.write(`${ms}\n`)
