import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import { watchedLog } from '../support/watched-log.ts'
import {
  bodiesOf,
  connected,
  dataFolder,
  FINGERPRINT,
  post,
  serve,
  STATUS,
  talk,
} from './support.ts'

test('an idle connection is closed, and one with a pending operation stays open, also half-closed', async () => {
  const dataDir = dataFolder()
  const slow = Promise.withResolvers<void>()
  const control = await connected(
    dataDir,
    { keyList: () => slow.promise.then(() => []) },
    { idleMs: 500 },
  )
  const pending = control.keyList()
  const path = join(dataDir, 'control.sock')
  const silent = ['', 'POST /status HTTP/1.1\r\nhost: x\r\n', post('status', '{}').slice(0, -1)]
  const half = talk(path, post('keyList'), { end: true })
  const idle = talk(path, post('status'))
  expect(await Promise.all(silent.map((begun) => talk(path, begun)))).toEqual(['', '', ''])
  expect(bodiesOf(await idle)).toEqual([{ result: STATUS }])
  slow.resolve()
  expect(await pending).toEqual([])
  expect(bodiesOf(await half)).toEqual([{ result: [] }])
})

test('a connection that does not read its answer is closed after one minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const dataDir = dataFolder()
  const text = 'x'.repeat(8 * 1024 * 1024)
  await serve(dataDir, { open: async () => ({ opened: true, text, verdict: 'verified' }) })
  const path = join(dataDir, 'control.sock')
  expect(await talk(path, post('status'), { end: true })).toContain('9.9.9')
  while (vi.getTimerCount() > 0) await immediate()
  const socket = connect(path)
    .on('error', () => {})
    .pause()
  onTestFinished(() => void socket.destroy())
  socket.write(post('open', '{"armored":"x"}'))
  while (vi.getTimerCount() === 0) await immediate()
  vi.advanceTimersByTime(59_999)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1)
  let taken = 0
  socket.on('data', (bytes) => (taken += bytes.length)).resume()
  await once(socket, 'close')
  expect(taken).toBeLessThan(text.length)
})

test('a seventeenth connection is dropped until one of the sixteen ends', async () => {
  const dataDir = dataFolder()
  const lines: Record<string, unknown>[] = []
  await serve(dataDir, {}, { log: watchedLog((line) => lines.push(line)) })
  const path = join(dataDir, 'control.sock')
  const sockets = Array.from({ length: 16 }, () => connect(path))
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const [first, ...others] = sockets
  for (const socket of others) {
    socket.write(post('status'))
    expect(String(await once(socket, 'data'))).toContain('9.9.9')
  }
  expect(lines.map(({ msg }) => msg)).toEqual(['control socket open'])
  expect(await talk(path, post('status'))).toBe('')
  expect(lines.at(-1)).toMatchObject({ limit: 16, msg: 'control connection dropped' })
  first?.end().resume()
  await once(first as Socket, 'close')
  expect(await talk(path, post('status'), { end: true })).toContain('9.9.9')
})

test('a connection with more than four pending requests is closed', async () => {
  const dataDir = dataFolder()
  let asked = 0
  const keyList = () => {
    asked += 1
    return new Promise<never>(() => {})
  }
  const control = await connected(dataDir, { keyList })
  const path = join(dataDir, 'control.sock')
  expect(await talk(path, post('keyList').repeat(6))).toBe('')
  expect(asked).toBeLessThanOrEqual(4)
  expect(bodiesOf(await talk(path, post('status').repeat(4), { end: true }))).toHaveLength(4)
  expect(await control.status()).toEqual(STATUS)
})

test('a connection that closes during an operation does not interrupt the operation', async () => {
  const dataDir = dataFolder()
  let done = 0
  const slow = Promise.withResolvers<void>()
  const control = await connected(dataDir, {
    keyPublish: async () => {
      await slow.promise
      done += 1
      return { fingerprint: FINGERPRINT, state: 'published', message: '' }
    },
  })
  const socket = connect(join(dataDir, 'control.sock'))
  socket.write(post('keyPublish', '{"replace":true}'))
  expect(await control.status()).toEqual(STATUS)
  socket.destroy()
  slow.resolve()
  expect(await control.status()).toEqual(STATUS)
  expect(done).toBe(1)
})

test('a pending request is answered before the control server stops', async () => {
  const dataDir = dataFolder()
  const asked = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  const server = await serve(dataDir, {
    keyList: async () => {
      asked.resolve()
      await slow.promise
      return []
    },
  })
  await using control = await connectControl(dataDir)
  const pending = control?.keyList()
  await asked.promise
  const disposed = server[Symbol.asyncDispose]()
  slow.resolve()
  expect(await pending).toEqual([])
  await disposed
})
