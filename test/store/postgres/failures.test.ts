/** What an error of a database means, for a call and for a store that does not open. */
import { expect, test } from 'vitest'
import { OperatorError, Refusal } from '../../../src/errors.ts'
import {
  CommitLostError,
  isCancelled,
  isOfDatabase,
  kindOf,
  PostgresError,
  requireWritable,
  rolledBack,
  toOperator,
  toRefusal,
  UntrustedServerError,
  type FailureKind,
} from '../../../src/store/postgres/failures.ts'

const ADDRESS = {
  host: 'db',
  port: 5432,
  database: 'bots',
  user: 'postern',
  password: 'secret',
  tls: null,
}
const PLACE = 'bots at db:5432 as postern'

/** An error as the server reports it, with a message that may hold anything. */
const reported = (code: string) => Object.assign(new Error('secret'), { code, severity: 'ERROR' })
/** An error of Node's. */
const failed = (code: string) => Object.assign(new Error('secret'), { code })

test.each<[FailureKind, string]>([
  ['lost', '08000 08006 57P01 57P02 57P03 57P05 25P03 53300'],
  ['login', '28000 28P01'],
  ['missing', '3D000'],
  ['rights', '42501'],
  ['pooled', '08P01'],
  ['read-only', '25006'],
  ['storage', '53100 55000 57014 58030 P0001 XX000'],
  ['blocked', '55P03'],
  ['damaged', '3F000 42P01 42P07 42703'],
  ['again', '22012 23505 40001 40P01'],
  ['mistake', '42601 25P02'],
])('`kindOf` is %s for the SQLSTATEs %s', (kind, states) => {
  for (const state of states.split(' ')) expect(kindOf(reported(state)), state).toBe(kind)
})

test.each<[FailureKind, string]>([
  ['lost', 'ECONNREFUSED ECONNRESET ENOENT EACCES EPIPE ETIMEDOUT EHOSTUNREACH ENOTFOUND EMFILE'],
  ['tls', 'CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_X ERR_TLS_X EPROTO'],
  ['tls', 'UNABLE_TO_GET_ISSUER_LOCALLY BAD_SIGNATURE CRL_EXPIRED'],
  ['mistake', 'ERR_ASSERTION EPROTONOSUPPORT XEPROTO MY_ERR_SSL 08006 28000'],
])('`kindOf` is %s for the Node.js codes %s', (kind, codes) => {
  for (const code of codes.split(' ')) expect(kindOf(failed(code)), code).toBe(kind)
})

test.each<[FailureKind, string]>([
  ['login', 'SASL: SCRAM-SERVER-FINAL-MESSAGE: no'],
  ['tls', 'The server does not support SSL connections'],
  ['tls', 'There was an error establishing an SSL connection'],
  ['lost', 'Connection terminated unexpectedly'],
  ['lost', 'timeout expired'],
  ['lost', 'timeout exceeded when trying to connect'],
  ['lost', 'Client has encountered a connection error and is not queryable'],
  ['lost', 'Client was closed and is not queryable'],
  ['mistake', 'x SASL: y'],
  ['mistake', 'the Connection terminated'],
  ['mistake', ''],
])('`kindOf` is %s for the pg message "%s"', (kind, message) => {
  expect(kindOf(new Error(message))).toBe(kind)
  expect(kindOf(Object.assign(new Error(message), { code: 5 }))).toBe(kind)
})

test('`kindOf` knows our own error classes, and anything else is a mistake', () => {
  const ours = [new PostgresError('tls', 'x'), new CommitLostError(null), rolledBack()]
  const untrusted = new UntrustedServerError('x', 'y')
  expect([...ours, untrusted].map(kindOf)).toEqual(['tls', 'lost', 'rolled-back', 'login'])
  const others = ['x', null, { code: '28000', severity: 'ERROR' }]
  for (const other of others) expect(kindOf(other)).toBe('mistake')
})

test('`isOfDatabase` separates errors of the whole database from errors of one schema', () => {
  const of = (kinds: string) =>
    kinds.split(' ').map((kind) => isOfDatabase(new PostgresError(kind as FailureKind, '')))
  const whole = of('lost login tls missing pooled read-only rolled-back')
  const one = of('rights storage blocked damaged again mistake')
  expect([new Set(whole), new Set(one)]).toEqual([new Set([true]), new Set([false])])
})

test('`isCancelled` is true for SQLSTATE 57014 only', () => {
  const found = [reported('57014'), reported('57P01'), { code: 57_014 }, null].map(isCancelled)
  expect(found).toEqual([true, false, false, false])
})

test('`requireWritable` throws where the server reports that it is read-only', () => {
  for (const setting of ['off', undefined, null, true]) requireWritable(setting)
  const refused = { kind: 'read-only', message: 'the database takes no writes' }
  expect(() => requireWritable('on')).toThrow(expect.objectContaining(refused) as Error)
})

test.each<[FailureKind, string]>([
  ['lost', 'the database is out of reach'],
  ['read-only', 'the database is out of reach'],
  ['pooled', 'a pooler stands before the database'],
  ['rolled-back', 'the database is behind what this sidecar has seen of it'],
  ['storage', ''],
  ['again', ''],
])(
  '`toRefusal` turns the kind %s into `postern_store_unwritable` with the detail %j',
  (kind, detail) => {
    const cause = new PostgresError(kind, 'x')
    const refusal = toRefusal(cause)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({ code: 'postern_store_unwritable', detail, cause })
  },
)

test.each<[unknown, string, string, string]>([
  [reported('57P03'), 'store-unreachable', 'is not reached (57P03)', 'nothing was changed'],
  [
    new Error('Connection terminated: secret'),
    'store-unreachable',
    'is not reached (the connection ended)',
    'start it',
  ],
  [reported('28P01'), 'store-login', 'does not let this user in', 'pg_hba.conf'],
  [failed('CERT_X'), 'store-tls', 'does not prove by TLS who it is (CERT_X)', 'sslrootcert'],
  [reported('3D000'), 'store-no-database', 'there is no such database', 'CREATE DATABASE'],
  [reported('42501'), 'store-rights', 'make or use the store’s schema', 'own the schema'],
  [reported('08P01'), 'store-pooler', 'a pooler stands before', 'name the server itself'],
  [reported('25006'), 'store-read-only', 'takes no writes', 'name the primary'],
  [rolledBack(), 'store-rolled-back', 'is behind what this sidecar has seen', 'database.json'],
  [reported('53100'), 'store-unwritable', 'its disk (53100)', 'free space'],
  [reported('53300'), 'store-unreachable', 'has no more connections', 'raise max_connections'],
  [reported('53200'), 'store-unreachable', 'room for locks', 'raise max_locks_per_transaction'],
  [reported('55P03'), 'store-in-use', 'somebody keeps tables', 'pg_stat_activity'],
  [reported('42P01'), 'store-corrupt', 'lacks tables of its own (42P01)', 'backup restore'],
  [
    new UntrustedServerError('asks for the password itself', 'use scram'),
    'store-login',
    `the database ${PLACE} asks for the password itself`,
    'use scram',
  ],
])('`toOperator` turns %s into the code %s', (cause, code, message, hint) => {
  const refused = toOperator(cause, ADDRESS) as OperatorError
  expect(refused).toBeInstanceOf(OperatorError)
  expect(refused).toMatchObject({ code, cause })
  expect(refused.message).toContain(PLACE)
  expect(refused.message).toContain(message)
  expect(refused.hint).toContain(hint)
  expect(`${refused.message}${refused.hint}`).not.toContain('secret')
})

test.each([reported('40001'), reported('42601'), new Error('x'), null, 'x'])(
  '`toOperator` returns a mistake unchanged: %s',
  (error) => {
    expect(toOperator(error, ADDRESS)).toBe(error)
  },
)

test('`toOperator` does not repeat an error code that is not a plain word', () => {
  const odd = Object.assign(new PostgresError('storage', 'secret'), { code: 'a code\nof words' })
  const { message } = toOperator(odd, ADDRESS) as OperatorError
  expect(message).toContain('its disk (the connection ended)')
})
