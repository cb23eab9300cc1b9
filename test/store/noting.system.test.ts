/** What is written all the time: on the disk when it resolves, without holding anything up for it. */
import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { canAttach, Tracer } from '../support/faults-strace.ts'
import { child, temporary } from './support.ts'

/** Says `ready`, then for each line that it hears how one flag was kept. */
const KEEPER = `
  const store = await openStore({ dataDir, passphrase: null, mode: 'create' })
  const keep = (way, name) => store[way]((db) =>
    db.insertInto('flags').values({ name, value: 'x' }).execute())
  await keep('note', 'first')
  console.log('ready')
  for await (const line of process.stdin.setEncoding('utf8'))
    for (const [index, way] of line.trim().split(' ').entries())
      console.log(await keep(way, way + index + line).then(() => 'kept', ({ code }) => code))`

const isTraced = await canAttach()

test.skipIf(!isTraced)('a write syncs on the main thread, and a note does not', async () => {
  const { process, line } = child(temporary(), KEEPER)
  expect(await line()).toBe('ready')
  const syncs = async (way: 'note' | 'write'): Promise<number> => {
    const tracer = await Tracer.attach(process.pid ?? 0)
    process.stdin?.write(`${way}\n`)
    expect(await line()).toBe('kept')
    return (await tracer.detach()).filter((call) => /^f(data)?sync\(/.test(call)).length
  }
  expect(await syncs('note')).toBe(0)
  expect(await syncs('write')).toBeGreaterThan(0)
})

test.skipIf(!isTraced)(
  'a note and a write with a failing sync are refused, and the next note mends the log',
  async () => {
    const { process, line } = child(temporary(), KEEPER)
    expect(await line()).toBe('ready')
    const pid = String(process.pid)
    const inject = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO']
    const quiet = ['-e', 'signal=none', '-o', '/dev/null']
    const strace = spawn('strace', ['-f', ...inject, ...quiet, '-p', pid])
    let output = ''
    while (!output.includes('attached')) output += String((await once(strace.stderr, 'data'))[0])
    process.stdin?.write('note write\n')
    for (let n = 0; n < 2; n++) expect(await line()).toBe('postern_store_unwritable')
    strace.kill('SIGINT')
    await once(strace, 'close')
    const tracer = await Tracer.attach(process.pid ?? 0)
    process.stdin?.write('note\n')
    expect(await line()).toBe('kept')
    // A log with a gap is brought into the database before anything else is kept in it.
    const calls = await tracer.detach()
    expect(calls.some((call) => /^pwrite64\(\d+<[^>]*\.db>/.test(call))).toBe(true)
  },
)
