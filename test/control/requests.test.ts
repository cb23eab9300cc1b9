import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectControl } from '../../src/control/client.ts'
import { OperatorError, Refusal, ServiceSaid } from '../../src/errors.ts'
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

describe('what is asked over the socket', () => {
  test('is answered as the operation answered', async () => {
    const control = await connected(dataFolder())
    const direct = operations()
    expect(await control.status()).toEqual(STATUS)
    expect(await control.check()).toEqual([{ name: 'token', level: 'pass', message: 'it is good' }])
    expect(await control.keyList()).toEqual(await direct.keyList())
    expect(await control.keyShow()).toEqual(await direct.keyShow())
    expect((await control.keyShow('b'.repeat(40))).fingerprint).toBe('b'.repeat(40))
    expect((await control.keyPublish({ replace: true })).message).toBe('replaced')
    expect((await control.keyPublish({ replace: false })).message).toBe('published')
    expect(await control.chatList()).toEqual(await direct.chatList())
    expect((await control.chatAllowReadable({ chatIds: [-5, 6] })).lifted).toEqual([-5, 6])
    expect((await control.chatAllowReadable({ pending: true })).message).toBe('{"pending":true}')
    expect((await control.chatAllowReadable({ private: true })).message).toBe('{"private":true}')
    expect((await control.open('line one\nline "two" ✓\u0000')).text).toContain('"two" ✓\u0000')
  })

  test('is answered in order, also when asked all at once', async () => {
    const control = await connected(dataFolder(), {
      open: async (text) => {
        await new Promise((resolve) => {
          setTimeout(resolve, text === 'first' ? 30 : 0)
        })
        return { opened: true, text, verdict: 'verified' }
      },
    })
    const answers = await Promise.all(['first', 'second'].map((text) => control.open(text)))
    expect(answers.map(({ text }) => text)).toEqual(['first', 'second'])
  })

  test('can be a whole MiB of armored text', async () => {
    const control = await connected(dataFolder())
    const text = `${'x'.repeat(63)}\n`.repeat(16 * 1024)
    expect((await control.open(text)).text).toHaveLength(1024 * 1024)
    await expect(control.open('\n'.repeat(1024 * 1024))).rejects.toMatchObject({ code: 'refused' })
    await expect(control.open(`${text}x`)).rejects.toMatchObject({ code: 'usage' })
    expect(await control.status()).toEqual(STATUS)
  })
})

describe('what goes wrong comes over as it was', () => {
  const answer = { status: 403, headers: { secret: 'x' }, body: Buffer.from('words') }
  test.each([
    ['a refusal with a detail', new Refusal('postern_key_conflict', 'theirs is BBBB'), Refusal],
    ['a refusal without', new Refusal('postern_locked'), Refusal],
    ['an operator’s error', new OperatorError('refused', 'no such chat', 'look'), OperatorError],
    ['the service’s no', new ServiceSaid({ code: 'bot_paused', status: 403, answer }), ServiceSaid],
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
    const control = await connected(dataFolder(), { status: async () => ({}) as typeof STATUS })
    await expect(control.status()).rejects.toMatchObject({ code: 'failed' })
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
    '',
    'null',
    '[]',
    '{',
    '{"operation":"shutdown"}',
    '{"operation":"status","more":1}',
    '{"operation":"chatAllowReadable","lift":{"chatIds":[]}}',
    '{"operation":"chatAllowReadable","lift":{"chatIds":[1.5]}}',
    '{"operation":"chatAllowReadable","lift":{"chatIds":[1],"pending":true}}',
    '{"operation":"chatAllowReadable","lift":{"pending":false}}',
    '{"operation":"keyPublish"}',
    `{"operation":"keyShow","fingerprint":"${FINGERPRINT}${FINGERPRINT}"}`,
  ])('%s is refused, and the next one is answered', async (line) => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const path = join(dataDir, 'control.sock')
    const text = await talk(path, `${line}\n{"operation":"status"}\n`, { end: true })
    const [first, second] = text.trim().split('\n')
    expect(JSON.parse(first ?? '')).toMatchObject({ error: { code: 'usage' } })
    expect(JSON.parse(second ?? '')).toEqual({ result: STATUS })
  })

  test('a line over 2 MiB ends the connection, and others are served', async () => {
    const dataDir = dataFolder()
    const control = await connected(dataDir)
    const path = join(dataDir, 'control.sock')
    expect(await talk(path, Buffer.alloc(2 * 1024 * 1024 + 1, 120))).toBe('')
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
    expect(await talk(join(dataDir, 'control.sock'), '{"operation":')).toBe('')
    slow.resolve()
    expect(await pending).toEqual([])
  })

  test('are let go when a request does not end, however steadily its bytes drip in', async () => {
    const dataDir = dataFolder()
    await serve(dataDir, {}, { idleMs: 200 })
    const socket = connect(join(dataDir, 'control.sock'))
    socket.on('error', () => {})
    const drip = setInterval(() => socket.writable && socket.write(' '), 20)
    onTestFinished(() => clearInterval(drip))
    // The last bytes may meet a closed end, which is an error of their own.
    await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  })

  test('are sixteen at most, and a place that is free again is taken', async () => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const path = join(dataDir, 'control.sock')
    const first = connect(path)
    const sockets = [first, ...Array.from({ length: 15 }, () => connect(path))]
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    expect(await talk(path, '{"operation":"status"}\n')).toBe('')
    first.end()
    first.resume()
    await once(first, 'close')
    expect(await talk(path, '{"operation":"status"}\n', { end: true })).toContain('9.9.9')
  })

  test('that close while an operation runs do not disturb it or others', async () => {
    const dataDir = dataFolder()
    let done = 0
    const slow = Promise.withResolvers<void>()
    const control = await connected(dataDir, {
      keyPublish: async () => {
        await slow.promise
        done += 1
        return { fingerprint: FINGERPRINT, state: 'active', message: '' }
      },
    })
    const socket = connect(join(dataDir, 'control.sock'))
    socket.write('{"operation":"keyPublish","replace":true}\n')
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
    const answer = talk(path, '{"operation":"chatList"}\n', { end: true })
    await asked.promise
    setTimeout(slow.resolve, 20)
    expect(await answer).toBe('{"result":[]}\n')
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
