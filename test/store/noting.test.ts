/** What is written all the time: on the disk when it resolves, without holding anything up for it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { canAttach, Tracer } from '../support/faults-strace.ts'
import { isFile, canMount, child, fill, flags, mounted, open, put, temporary } from './support.ts'

const note = (store: Store, name: string, value: string): Promise<unknown> =>
  store.note((db) => db.insertInto('flags').values({ name, value }).execute())

test('what was noted is there when the store is opened again, beside what was written', async () => {
  const dataDir = temporary()
  const store = await open(dataDir)
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`)
  await Promise.all(names.map((name, n) => (n % 3 === 0 ? put : note)(store, name, 'kept')))
  await store[Symbol.asyncDispose]()
  const kept = await flags(await open(dataDir))
  expect(Object.keys(kept).toSorted()).toEqual(names.toSorted())
})

test('a note that throws leaves nothing', async () => {
  const store = await open(temporary())
  const failing = store.note(async (db) => {
    await db.insertInto('flags').values({ name: 'half', value: 'x' }).execute()
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  await note(store, 'next', 'y')
  expect(await flags(store)).toEqual({ next: 'y' })
})

test.skipIf(!isFile || !canMount())(
  'a full disk refuses a note, tells once, and heals by itself',
  async () => {
    const mount = mounted('2m')
    const store = await open(join(mount, 'data'))
    const reported: boolean[] = []
    store.onWritable((writable) => reported.push(writable))
    await note(store, 'before', 'the disk was full')
    fill(mount)
    await expect(note(store, 'large', 'x'.repeat(500_000))).rejects.toMatchObject({
      code: 'postern_store_unwritable',
    })
    rmSync(join(mount, 'filler'))
    await note(store, 'after', 'it was emptied')
    expect(reported).toEqual([false, true])
    expect(Object.keys(await flags(store))).toEqual(['before', 'after'])
  },
)

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

test.skipIf(!isFile || !isTraced)(
  'the thread that answers waits for the disk when it writes, and not when it notes',
  async () => {
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
  },
)

test.skipIf(!isFile || !isTraced)(
  'what the disk does not take is refused, whichever thread waits for it',
  async () => {
    const { process, line } = child(temporary(), KEEPER)
    expect(await line()).toBe('ready')
    const pid = String(process.pid)
    const inject = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO']
    const strace = spawn('strace', [
      '-f',
      ...inject,
      '-e',
      'signal=none',
      '-o',
      '/dev/null',
      '-p',
      pid,
    ])
    let output = ''
    while (!output.includes('attached')) output += String((await once(strace.stderr, 'data'))[0])
    process.stdin?.write('note write\n')
    expect([await line(), await line()]).toEqual([
      'postern_store_unwritable',
      'postern_store_unwritable',
    ])
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
