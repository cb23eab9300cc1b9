/** What a client of a database refuses before it sends a password, by messages that a test plays. */
import type { EventEmitter } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ClientConfig } from 'pg'
import { DatabaseClient } from '../../src/replicas/client.ts'
import { SOCKET } from '../support/postgres.ts'

interface Inside {
  saslSession?: object | null
  connection: EventEmitter & { password: (text: string) => void; stream: object }
}

/** A client that is connected to nobody, and the errors that end it. */
function scene(config: ClientConfig = {}) {
  const client = new DatabaseClient({ host: '127.0.0.1', password: 'secret', ...config })
  const inside = client as unknown as Inside
  const errors: Error[] = []
  inside.connection.on('error', (error: Error) => errors.push(error))
  const ready = vi.fn()
  inside.connection.on('readyForQuery', ready)
  const destroy = vi.fn()
  inside.connection.stream = { destroy }
  const emit = (name: string) => inside.connection.emit(name)
  return { client, inside, errors, ready, destroy, emit }
}

const PROOF = {
  kind: 'login',
  message: 'does not prove that it knows the password, without TLS',
  hint: expect.stringMatching(/^use scram-sha-256.*or reach it through its socket/) as string,
}
const PASSWORD = {
  kind: 'login',
  message: 'asks for the password itself, without TLS',
  hint: expect.stringMatching(/^use scram-sha-256.*find out who listens in its place$/) as string,
}

describe('a client with a password and without TLS', () => {
  test('refuses a server that lets it in without a proof, and reads nothing more of it', () => {
    const { errors, ready, destroy, emit } = scene()
    emit('authenticationOk')
    expect(errors).toMatchObject([PROOF])
    emit('readyForQuery')
    expect([ready.mock.calls.length, destroy.mock.calls.length]).toEqual([0, 1])
  })

  test.each<[string, object | null | undefined, object | null, boolean]>([
    ['begins and ends', {}, null, true],
    ['does not end', {}, {}, false],
    ['has ended before', null, null, false],
    ['was never begun', undefined, null, false],
  ])('whose SCRAM session %s is let in: %s', (_how, before, after, isIn) => {
    const { inside, errors, emit } = scene()
    if (before !== undefined) inside.saslSession = before
    emit('authenticationSASLFinal')
    inside.saslSession = after
    emit('authenticationOk')
    expect(errors).toMatchObject(isIn ? [] : [PROOF])
  })

  test.each([
    ['without a password', { password: '' }],
    ['with none from its function', { password: () => '' }],
    ['by a socket', { host: '/run/pg' }],
    ['by TLS', { ssl: true }],
  ])('wants no proof %s', (_how, config) => {
    const { errors, emit } = scene(config)
    emit('authenticationOk')
    expect(errors).toEqual([])
  })

  test('wants a proof for a password from its function', () => {
    const { errors, emit } = scene({ password: () => 'secret' })
    emit('authenticationOk')
    expect(errors).toMatchObject([PROOF])
  })

  test('sends no password, by address or socket', () => {
    for (const host of ['127.0.0.1', '/run/pg']) {
      const { inside, errors, destroy } = scene({ host })
      inside.connection.password('secret')
      expect([errors, destroy.mock.calls.length]).toMatchObject([[PASSWORD], 1])
    }
  })
})

test.each([
  [{ encrypted: true, getProtocol: () => 'TLSv1.3' }, 'TLSv1.3'],
  [{ encrypted: true, getProtocol: () => null }, null],
  [{ encrypted: false, getProtocol: () => 'TLSv1.3' }, null],
  [{}, null],
])('a connection over %o has the protocol %s', (stream, protocol) => {
  const { client, inside } = scene()
  inside.connection.stream = stream
  expect(client.tlsProtocol).toBe(protocol)
  expect([client.pid, client.isWarned]).toEqual([0, false])
})

describe('a socket', () => {
  function folder(mode: number): string {
    const path = mkdtempSync(join(tmpdir(), 'pg-client-'))
    onTestFinished(() => rmSync(path, { recursive: true, force: true }))
    chmodSync(path, mode)
    return path
  }
  const problemOf = async (host: string, config: ClientConfig = {}) => {
    const client = new DatabaseClient({ host, ...config })
    client.on('error', () => {})
    const failed = await client.connect().then(
      () => null,
      (error: Error & { hint?: string; code?: string }) => error,
    )
    client.destroy()
    return failed
  }

  test.each([
    ['is a file', 0o755, (path: string) => `${path}/${SOCKET} is no socket`],
    [
      'is where anybody may replace it',
      0o777,
      (path: string) => `anybody may replace it (${path})`,
    ],
  ])('that %s is not used', async (_what, mode, reason) => {
    const path = folder(mode)
    writeFileSync(join(path, SOCKET), '')
    const refused = await problemOf(path)
    expect(refused).toMatchObject({
      message: `has a socket that is not used: ${reason(path)}`,
      hint: expect.stringMatching(
        /^let the server have a folder.*nothing was sent to it$/,
      ) as string,
    })
    const byCallback = await new Promise((done) => new DatabaseClient({ host: path }).connect(done))
    expect(byCallback).toEqual(refused)
  })

  test('that is not there is one that nobody listens at', async () => {
    expect(await problemOf(folder(0o755))).toMatchObject({ code: 'ENOENT' })
    expect(await problemOf('/nowhere')).toMatchObject({ code: 'ENOENT' })
    const path = folder(0o755)
    writeFileSync(join(path, SOCKET), '')
    expect(await problemOf(path, { port: 6000 })).toMatchObject({ code: 'ENOENT' })
  })

  test.each([
    ['in a folder of its own', 0o755],
    ['in a folder that all share, and none may change for others', 0o1777],
  ])('of this user is used %s, by each of its names', async (_where, mode) => {
    const path = folder(mode)
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((done) => server.listen(join(path, SOCKET), done))
    onTestFinished(() => void server.close())
    const link = join(folder(0o755), 'link')
    symlinkSync(path, link)
    for (const host of [path, link]) {
      expect((await problemOf(host))?.message).toMatch(
        /^(Connection terminated|read ECONNRESET|write EPIPE)/,
      )
    }
  })
})
