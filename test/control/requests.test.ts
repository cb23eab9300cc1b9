import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VERSION } from '../../src/config/version.ts'
import { connectControl } from '../../src/control/client.ts'
import { OperatorError, Refusal, ServiceError } from '../../src/errors.ts'
import { dataFolder, FINGERPRINT, operations, serve, STATUS, talk } from './support.ts'

async function connected(...given: Parameters<typeof serve>) {
  await serve(...given)
  const control = await connectControl(given[0])
  if (control === null) throw new Error('nobody listens')
  onTestFinished(async () => {
    await control[Symbol.asyncDispose]()
  })
  return control
}

/** Has somebody else than a sidecar listen at its socket. */
async function listen(server: Server, dataDir: string): Promise<void> {
  const path = join(dataDir, 'control.sock')
  server.listen(path)
  await once(server, 'listening')
  chmodSync(path, 0o600)
  onTestFinished(() => void server.close())
}

const BODY = 2 * 1024 * 1024 + 1

/** A request as it goes over the socket. */
function post(name: string, body = '{}'): string {
  return `POST /${name} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** The bodies of the answers in what came over a socket. */
function bodiesOf(text: string): unknown[] {
  const bodies = [...text.matchAll(/\r\n\r\n(\{.*?\})(?=HTTP\/1|$)/gs)]
  return bodies.map(([, body = '']) => JSON.parse(body) as unknown)
}

describe('what is asked over the socket', () => {
  test('is answered as the operation answered', async () => {
    const control = await connected(dataFolder())
    const direct = operations()
    expect(await control.status()).toEqual(STATUS)
    expect(await control.check()).toEqual([{ name: 'token', level: 'pass', message: 'it is good' }])
    expect(await control.keyList()).toEqual(await direct.keyList())
    expect(await control.keyShow()).toEqual(await direct.keyShow())
    expect((await control.keyShow({ fingerprint: 'b'.repeat(40) })).fingerprint).toBe(
      'b'.repeat(40),
    )
    expect((await control.keyPublish({ replace: true })).message).toBe('replaced')
    expect((await control.keyPublish({ replace: false })).message).toBe('published')
    expect(await control.chatList()).toEqual(await direct.chatList())
    expect((await control.chatAllowReadable({ chatIds: [-5, 6] })).lifted).toEqual([-5, 6])
    expect((await control.chatAllowReadable({ pending: true })).message).toBe('{"pending":true}')
    expect((await control.chatAllowReadable({ private: true })).message).toBe('{"private":true}')
    const armored = 'line one\nline "two" ✓\u0000'
    expect((await control.open({ armored })).text).toContain('"two" ✓\u0000')
  })

  test('is answered in order, also when asked all at once', async () => {
    const control = await connected(dataFolder(), {
      open: async ({ armored }) => {
        await setTimeout(armored === 'first' ? 30 : 0)
        return { opened: true, text: armored, verdict: 'verified' }
      },
    })
    const answers = await Promise.all(
      ['first', 'second'].map((armored) => control.open({ armored })),
    )
    expect(answers.map(({ text }) => text)).toEqual(['first', 'second'])
  })

  test('can be a whole MiB of armored text', async () => {
    const control = await connected(dataFolder())
    const armored = `${'x'.repeat(63)}\n`.repeat(16 * 1024)
    expect((await control.open({ armored })).text).toHaveLength(1024 * 1024)
    const escaped = { armored: '\n'.repeat(1024 * 1024) }
    await expect(control.open(escaped)).rejects.toMatchObject({ code: 'refused' })
    const longer = { armored: `${armored}x` }
    await expect(control.open(longer)).rejects.toMatchObject({ code: 'usage' })
    expect(await control.status()).toEqual(STATUS)
  })
})

describe('what goes wrong comes over as it was', () => {
  const answer = { status: 403, headers: { secret: 'x' }, body: Buffer.from('words') }
  test.each([
    ['a refusal with a detail', new Refusal('postern_key_conflict', 'theirs is BBBB'), Refusal],
    ['a refusal without', new Refusal('postern_locked'), Refusal],
    ['a refusal with a code of the service’s', new Refusal('too_large', 'it is 9 MiB'), Refusal],
    ['an operator’s error', new OperatorError('refused', 'no such chat', 'look'), OperatorError],
    [
      'the service’s no',
      new ServiceError({ code: 'bot_paused', status: 403, answer }),
      ServiceError,
    ],
  ])('%s', async (_name, error, kind) => {
    const control = await connected(dataFolder(), {
      keyPublish: () => Promise.reject(error),
    })
    const caught: unknown = await control.keyPublish({ replace: false }).catch((e: unknown) => e)
    expect(caught).toBeInstanceOf(kind)
    expect(caught).toMatchObject({ code: error.code, message: error.message })
    if ('hint' in error) expect(caught).toMatchObject({ hint: error.hint })
    expect(JSON.stringify(caught)).not.toContain('words')
  })

  test('a fault of ours, without its words', async () => {
    const control = await connected(dataFolder(), {
      keyList: () => Promise.reject(new TypeError('words')),
    })
    await expect(control.keyList()).rejects.toMatchObject({
      code: 'failed',
      message: 'internal failure (TypeError)',
    })
    expect(await control.status()).toEqual(STATUS)
  })

  test('an answer of another version', async () => {
    const control = await connected(dataFolder(), {}, { version: '0.0.1' })
    await expect(control.status()).rejects.toMatchObject({
      code: 'failed',
      message: 'the sidecar’s answer cannot be read',
      hint: expect.stringContaining(`0.0.1; this is ${VERSION}`),
    })
  })

  test.each([
    ['no HTTP', '{"error":{"code":"usage","message":"what?"}}\n'],
    ['no answer of a sidecar', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
  ])('an answer that is %s', async (_name, bytes) => {
    const dataDir = dataFolder()
    const server = createServer((socket) => void socket.once('data', () => socket.write(bytes)))
    await listen(server, dataDir)
    await using control = await connectControl(dataDir)
    await expect(control?.status()).rejects.toMatchObject({
      code: 'failed',
      message: 'the sidecar’s answer cannot be read',
    })
  })

  test('an answer over 64 MiB', async () => {
    const dataDir = dataFolder()
    const mib = 'x'.repeat(1024 * 1024)
    const server = createHttpServer((_request, response) => {
      response.writeHead(200, { 'postern-version': VERSION })
      Readable.from(Array.from({ length: 66 }, () => mib)).pipe(response)
    })
    await listen(server, dataDir)
    await using control = await connectControl(dataDir)
    await expect(control?.status()).rejects.toMatchObject({ code: 'failed' })
  })

  test('a sidecar that goes away', async () => {
    const dataDir = dataFolder()
    const asked = Promise.withResolvers<void>()
    const keyList = () => {
      asked.resolve()
      return new Promise<never>(() => {})
    }
    const server = await serve(dataDir, { keyList }, { drainMs: 10 })
    await using control = await connectControl(dataDir)
    const pending = expect(control?.keyList()).rejects.toMatchObject({
      code: 'failed',
      message: 'the sidecar went away before it answered',
    })
    await asked.promise
    await server[Symbol.asyncDispose]()
    await pending
    await expect(control?.status()).rejects.toMatchObject({ code: 'failed' })
  })

  test('an answer that takes too long', async () => {
    const dataDir = dataFolder()
    await serve(dataDir, { keyList: () => new Promise(() => {}) }, { drainMs: 10 })
    await using control = await connectControl(dataDir, 20)
    await expect(control?.keyList()).rejects.toMatchObject({ code: 'failed' })
  })
})

describe('what is not a request', () => {
  test.each([
    ['status', ''],
    ['status', 'null'],
    ['status', '[]'],
    ['status', '{'],
    ['shutdown', '{}'],
    ['toString', '{}'],
    ['', '{}'],
    ['status/now', '{}'],
    ['%', '{}'],
    ['status', '{"more":1}'],
    ['chatAllowReadable', '{"chatIds":[]}'],
    ['chatAllowReadable', '{"chatIds":[1.5]}'],
    ['chatAllowReadable', '{"chatIds":[1],"pending":true}'],
    ['chatAllowReadable', '{"pending":false}'],
    ['keyPublish', '{}'],
    ['keyShow', `{"fingerprint":"${FINGERPRINT}${FINGERPRINT}"}`],
  ])('`%s` with `%s` is refused, and the next one is answered', async (name, body) => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const path = join(dataDir, 'control.sock')
    const text = await talk(path, `${post(name, body)}${post('status')}`, { end: true })
    const [first, second] = bodiesOf(text)
    expect(first).toMatchObject({ error: { code: 'usage' } })
    expect(second).toEqual({ result: STATUS })
  })

  test('nothing is answered to another method', async () => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const path = join(dataDir, 'control.sock')
    const text = await talk(path, post('status').replace('POST', 'GET'), { end: true })
    expect(bodiesOf(text)).toMatchObject([{ error: { code: 'usage' } }])
  })

  test.each([
    [
      'over 2 MiB that says so',
      `POST /status HTTP/1.1\r\nhost: x\r\ncontent-length: ${BODY}\r\n\r\n`,
    ],
    [
      'over 2 MiB in chunks',
      `POST /status HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${BODY.toString(16)}\r\n`,
    ],
  ])('a request %s ends the connection, and others are served', async (_name, head) => {
    const dataDir = dataFolder()
    const control = await connected(dataDir)
    const path = join(dataDir, 'control.sock')
    const text = await talk(path, Buffer.concat([Buffer.from(head), Buffer.alloc(BODY, 120)]))
    expect(text).toMatch(/^HTTP\/1.1 400 .*"code":"usage"/s)
    expect(text).not.toContain('9.9.9')
    expect(await control.status()).toEqual(STATUS)
  })

  test('what is no HTTP ends the connection, and others are served', async () => {
    const dataDir = dataFolder()
    const control = await connected(dataDir)
    const path = join(dataDir, 'control.sock')
    expect(await talk(path, Buffer.alloc(2 * 1024 * 1024 + 1, 120))).toBe('')
    expect(await talk(path, '{"operation":"status"}\n')).toBe('')
    expect(await control.status()).toEqual(STATUS)
  })
})

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
