/** What a client of a database refuses before it sends a password, by messages that a test plays. */
import type { EventEmitter } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import type { ClientConfig } from 'pg'
import { DatabaseClient } from '../../../src/store/postgres/client.ts'

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

describe('a database client with a password and without TLS', () => {
  test.each<[string, boolean, object | null | undefined, object | null]>([
    ['begins and ends', true, {}, null],
    ['does not end', false, {}, {}],
    ['has ended before', false, null, null],
    ['never begins', false, undefined, null],
  ])('a server whose SCRAM session %s is accepted: %s', (_how, isIn, before, after) => {
    const { inside, errors, emit } = scene()
    if (before !== undefined) inside.saslSession = before
    emit('authenticationSASLFinal')
    inside.saslSession = after
    emit('authenticationOk')
    expect(errors).toMatchObject(isIn ? [] : [PROOF])
  })

  test.each<[string, ClientConfig, boolean]>([
    ['a password', {}, true],
    ['a password from a function', { password: () => 'secret' }, true],
    ['an empty password', { password: '' }, false],
    ['an empty password from a function', { password: () => '' }, false],
    ['a socket', { host: '/run/pg' }, false],
    ['TLS', { ssl: true }, false],
  ])('a client with %s requires a SCRAM proof: %s', (_how, config, isRequired) => {
    const { errors, ready, destroy, emit } = scene(config)
    emit('authenticationOk')
    expect(errors).toMatchObject(isRequired ? [PROOF] : [])
    emit('readyForQuery')
    expect([ready.mock.calls.length, destroy.mock.calls.length]).toEqual(
      isRequired ? [0, 1] : [1, 0],
    )
  })
})

test.each([
  [{ encrypted: true, getProtocol: () => 'TLSv1.3' }, 'TLSv1.3'],
  [{ encrypted: true, getProtocol: () => null }, null],
  [{ encrypted: false, getProtocol: () => 'TLSv1.3' }, null],
  [{}, null],
])('a connection over %o has the TLS protocol %s', (stream, protocol) => {
  const { client, inside } = scene()
  inside.connection.stream = stream
  expect(client.tlsProtocol).toBe(protocol)
  expect([client.pid, client.isWarned]).toEqual([0, false])
})
