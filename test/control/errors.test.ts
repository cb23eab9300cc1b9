import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VERSION } from '../../src/config/version.ts'
import { connectControl } from '../../src/control/client.ts'
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

describe('the client throws the error that the sidecar had', () => {
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

  test('whose code comes from the service in one line', () => {
    const error = new ServiceError({ code: 'x\nhint: run', status: 409, answer })
    expect(error.message).not.toContain('\n')
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
