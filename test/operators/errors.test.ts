import { once } from 'node:events'
import { chmodSync, symlinkSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VERSION } from '../../src/config/version.ts'
import { connectControl } from '../../src/operators/client.ts'
import { fromWireError, toWireError } from '../../src/operators/protocol.ts'
import { OperatorError, Refusal, ServiceError } from '../../src/errors.ts'
import { connected, dataFolder, serve, STATUS } from './support.ts'

/** Has somebody else than a sidecar listen at its socket. */
async function listen(server: Server, dataDir: string): Promise<void> {
  const path = join(dataDir, 'control.sock')
  server.listen(path)
  await once(server, 'listening')
  chmodSync(path, 0o600)
  onTestFinished(() => void server.close())
}

const SENTENCE = new Refusal('postern_key_conflict').message
const RAW = { status: 403, headers: { secret: 'x' }, body: Buffer.from('words') }
const refusedByService = new ServiceError({ code: 'bot_paused', status: 403, answer: RAW })
const VERSIONED = `postern-version: ${VERSION}`
const FAILED = { code: 'failed', hint: 'the log of the sidecar shows what led to it' }

test.each([
  [new Refusal('postern_key_conflict', 'theirs is B'), `${SENTENCE}: theirs is B`, /./],
  [new Refusal('postern_key_conflict'), SENTENCE, /./],
  [new Refusal('too_large', 'it is 9 MiB'), 'it is 9 MiB', undefined],
  [new OperatorError('refused', 'no such chat', 'look'), 'no such chat', /^look$/],
  [refusedByService, 'the service said bot_paused', undefined],
])(
  '%s is sent to the client with its code, without the answer of the service',
  (error, message, hint) => {
    const crossed = JSON.parse(JSON.stringify(toWireError(error))) as Record<string, unknown>
    const status = error instanceof ServiceError ? { status: 403 } : {}
    const hinted = hint === undefined ? {} : { hint: expect.stringMatching(hint) as unknown }
    expect(crossed).toEqual({ code: error.code, message, ...status, ...hinted })
    const thrown = fromWireError(crossed as never)
    expect(thrown).toBeInstanceOf(error.constructor)
    expect(thrown).toMatchObject({ code: error.code, message, ...hinted })
    if (!(thrown instanceof ServiceError)) return
    expect(thrown.answer).toEqual({ status: 403, headers: {}, body: Buffer.alloc(0) })
  },
)

test.each([
  [new TypeError('words'), 'internal failure (TypeError)'],
  ['words', 'internal failure (string)'],
])('the unexpected error %s is sent as `failed` without its text', (error, message) => {
  expect(toWireError(error)).toEqual({ ...FAILED, message })
  expect(fromWireError({ code: 'of another', message: 'm' })).toMatchObject({ code: 'failed' })
})

describe('errors of the control client', () => {
  test('the message of a `ServiceError` is one line even if its code has a line break', () => {
    const error = new ServiceError({ code: 'x\nhint: run', status: 409, answer: RAW })
    expect(error.message).not.toContain('\n')
  })

  test('an internal error of an operation is reported without its text, and later requests succeed', async () => {
    const control = await connected(dataFolder(), {
      keyList: () => Promise.reject(new TypeError('words')),
    })
    await expect(control.keyList()).rejects.toMatchObject({
      code: 'failed',
      message: 'internal failure (TypeError)',
    })
    expect(await control.status()).toEqual(STATUS)
  })

  test('an answer of another version is refused with both versions', async () => {
    const control = await connected(dataFolder(), {}, { version: '0.0.1' })
    await expect(control.status()).rejects.toMatchObject({
      code: 'failed',
      message: 'the sidecar’s answer cannot be read',
      hint: expect.stringContaining(`0.0.1; this is ${VERSION}`),
    })
  })

  test.each([
    ['not HTTP', '{"error":{"code":"usage","message":"what?"}}\n'],
    ['without a version', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
    ['of another shape', `HTTP/1.1 200 OK\r\n${VERSIONED}\r\ncontent-length: 1\r\n\r\n1`],
  ])('an answer %s is refused as unreadable', async (_name, bytes) => {
    const dataDir = dataFolder()
    const server = createServer((socket) => void socket.once('data', () => socket.write(bytes)))
    await listen(server, dataDir)
    await using control = await connectControl(dataDir)
    await expect(control?.status()).rejects.toMatchObject({
      code: 'failed',
      message: 'the sidecar’s answer cannot be read',
      hint: 'run this command from the version of Postern that the sidecar runs',
    })
  })

  test('an answer over 64 MiB is refused', async () => {
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

  test('a pending call fails when the sidecar stops', async () => {
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
      hint: 'it may be stopping, or busy with other commands; see its log and try again',
    })
    await asked.promise
    await server[Symbol.asyncDispose]()
    await pending
    await expect(control?.status()).rejects.toMatchObject({ code: 'failed' })
  })

  test("a data directory that cannot be read is refused with the system's error code", async () => {
    const dataDir = join(dataFolder(), 'loop')
    symlinkSync(dataDir, dataDir)
    await expect(connectControl(dataDir)).rejects.toMatchObject({
      code: 'data-dir',
      message: `the control socket in ${dataDir} cannot be used (ELOOP)`,
      hint: 'run this command as the user that the sidecar runs as',
      cause: { code: 'ELOOP' },
    })
  })

  test('a call without an answer in time fails', async () => {
    const dataDir = dataFolder()
    await serve(dataDir, { keyList: () => new Promise(() => {}) }, { drainMs: 10 })
    await using control = await connectControl(dataDir, 20)
    await expect(control?.keyList()).rejects.toMatchObject({ code: 'failed' })
  })
})
