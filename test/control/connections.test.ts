import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectControl } from '../../src/control/client.ts'
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

describe('connections', () => {
  test('that say nothing are closed, unless something is under way', async () => {
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
    const idle = talk(path, post('status'))
    expect(await Promise.all(silent.map((begun) => talk(path, begun)))).toEqual(['', '', ''])
    expect(bodiesOf(await idle)).toEqual([{ result: STATUS }])
    slow.resolve()
    expect(await pending).toEqual([])
  })

  test('are let go when a request does not end, however steadily its bytes drip in', async () => {
    const dataDir = dataFolder()
    await serve(dataDir, {}, { idleMs: 200 })
    const socket = connect(join(dataDir, 'control.sock'))
    socket.on('error', () => {})
    socket.write('POST /status HTTP/1.1\r\nhost: x\r\nx: ')
    const drip = setInterval(() => socket.writable && socket.write('x'), 20)
    onTestFinished(() => clearInterval(drip))
    await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  })

  test('are let go when they do not take their answer', async () => {
    const dataDir = dataFolder()
    const text = 'x'.repeat(8 * 1024 * 1024)
    const open = async () => ({ opened: true, text, verdict: 'verified' })
    await serve(dataDir, { open }, { idleMs: 200 })
    const socket = connect(join(dataDir, 'control.sock'))
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.pause()
    await new Promise<void>((resolve) =>
      socket.write(post('open', '{"armored":"x"}'), () => resolve()),
    )
    await setTimeout(1500)
    let taken = 0
    socket.on('data', (bytes) => (taken += bytes.length))
    socket.resume()
    await new Promise<void>((resolve) => socket.once('close', () => resolve()))
    expect(taken).toBeLessThan(text.length)
  })

  test('are sixteen at most, and a place that is free again is taken', async () => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const path = join(dataDir, 'control.sock')
    const first = connect(path)
    const sockets = [first, ...Array.from({ length: 15 }, () => connect(path))]
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    expect(await talk(path, post('status'))).toBe('')
    first.end()
    first.resume()
    await once(first, 'close')
    expect(await talk(path, post('status'), { end: true })).toContain('9.9.9')
  })

  test('that ask for more than four things at once are closed', async () => {
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
    expect(await control.status()).toEqual(STATUS)
  })

  test('that close while an operation runs do not disturb it or others', async () => {
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

  test('get their answer although their half is closed already', async () => {
    const dataDir = dataFolder()
    const asked = Promise.withResolvers<void>()
    const slow = Promise.withResolvers<void>()
    const chatList = async () => {
      asked.resolve()
      await slow.promise
      return []
    }
    await serve(dataDir, { chatList })
    const path = join(dataDir, 'control.sock')
    const answer = talk(path, post('chatList'), { end: true })
    await asked.promise
    void setTimeout(20).then(slow.resolve)
    expect(bodiesOf(await answer)).toEqual([{ result: [] }])
  })

  test('get their answer before the socket is closed for good', async () => {
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
})
