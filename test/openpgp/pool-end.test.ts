import { execFile } from '../support/programs.ts'
import { expect, test } from 'vitest'

const POOL = new URL('../../src/openpgp/pool.ts', import.meta.url).href

/** A process that ends its pool when the thread's answer has arrived, and was not heard yet. */
const PROGRAM = `
import { Pool } from ${JSON.stringify(POOL)}
const pool = new Pool('native/worker', 1)
await pool.run('refillEphemerals', [], 60_000)
void pool.run('refillEphemerals', [], 60_000).catch(() => {})
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
await pool[Symbol.asyncDispose]()
console.log('ended')
`

test('disposal of a `Pool` ends a thread whose answer is not yet received, and the process exits with 0', async () => {
  const ended = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
    const args = ['--input-type=module', '--eval', PROGRAM]
    execFile(process.execPath, args, (error, stdout) => resolve({ code: error?.code ?? 0, stdout }))
  })
  expect(ended).toEqual({ code: 0, stdout: 'ended\n' })
})
