/** Why a store in a database does not open, each reason by its code. */
import { execFileSync } from '../../support/programs.ts'
import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OperatorError } from '../../../src/errors.ts'
import { FIRST_VERSION, NEWEST_VERSION } from '../../../src/store/migrations.ts'
import { databaseOf } from '../../../src/store/postgres/migrate.ts'
import { freePort } from '../../bench/processes.ts'
import { listen } from '../../support/listening.ts'
import { freshSchema, hasPostgres, ownCluster, type Cluster } from '../../support/postgres.ts'
import { made, put, temporary } from '../support.ts'
import { openOn, serverOf } from './scene.ts'

let own: ReturnType<typeof ownCluster>
let cluster: Cluster
let port = 0
beforeAll(async () => {
  if (!hasPostgres()) return
  own = ownCluster()
  cluster = own.cluster
  port = await freePort()
  const at = (name: string): string => join(cluster.folder, name)
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', at('key'), '-out', at('certificate')]
  const key = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  execFileSync('openssl', ['req', ...key, '-days', '2', ...subject, ...files], { stdio: 'ignore' })
  cluster.own(at('key'))
  cluster.letIn('local all guarded scram-sha-256', 'local all all trust', 'host all all all trust')
  const tls = ['ssl=on', `ssl_cert_file=${at('certificate')}`, `ssl_key_file=${at('key')}`]
  cluster.start([...tls, 'password_encryption=scram-sha-256'], { port })
  cluster.sql(`CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE nobody LOGIN`)
})
afterAll(() => own?.[Symbol.dispose]())

const opening = (url: string, o: Parameters<typeof openOn>[2] = {}) =>
  openOn(serverOf(url), freshSchema(), o)

/** The refusal to open what a URL names; it never repeats the password. */
async function refusalOf(url: string, o: Parameters<typeof openOn>[2] = {}): Promise<string> {
  const error: unknown = await opening(url, o).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof OperatorError)) throw new Error('it opened', { cause: error })
  expect(`${error.message}${error.hint}`).not.toContain('wrong-password')
  return error.code
}

const withPassword = (password: string): string =>
  cluster.urlOf('guarded').replace('guarded@', `guarded:${password}@`)

describe.skipIf(!hasPostgres())('the refusal of a database', () => {
  test('a database that does not run is refused as `store-unreachable`, by socket, address or name', async () => {
    const nobody = await freePort()
    for (const url of [
      'postgres://postern@/postgres?host=/nowhere',
      `postgres://postern:wrong-password@127.0.0.1:${nobody}/postgres`,
      'postgres://postern@no-such-host.invalid/postgres',
    ]) {
      expect(await refusalOf(url)).toBe('store-unreachable')
    }
  })

  test('a database with another password, or without such a user, is refused as `store-login`', async () => {
    for (const url of [
      withPassword('wrong-password'),
      cluster.urlOf('guarded'),
      cluster.urlOf('stranger'),
    ]) {
      expect(await refusalOf(url)).toBe('store-login')
    }
    cluster.sql('GRANT CREATE ON DATABASE postgres TO guarded')
    await put(await opening(withPassword('right')), 'a', 'b')
  })

  test('a missing database is refused as `store-no-database`, and a missing store as `store-missing`', async () => {
    expect(await refusalOf(cluster.urlOf('postern', 'nothing'))).toBe('store-no-database')
    expect(await refusalOf(cluster.url, { mode: 'existing' })).toBe('store-missing')
  })

  test('a database without the CREATE right for the user is refused as `store-rights`', async () => {
    expect(await refusalOf(cluster.urlOf('nobody'))).toBe('store-rights')
  })

  test('a database with an unknown or a foreign certificate is refused as `store-tls`', async () => {
    const ca = encodeURIComponent(join(cluster.folder, 'certificate'))
    const at = (host: string, more = '') =>
      `postgres://postern@${host}:${port}/postgres?sslmode=require${more}`
    expect(await refusalOf(at('localhost'))).toBe('store-tls')
    expect(await refusalOf(at('127.0.0.1', `&sslrootcert=${ca}`))).toBe('store-tls')
    await put(await opening(at('localhost', `&sslrootcert=${ca}`)), 'a', 'b')
  })

  test('a database without TLS is refused as `store-tls` where TLS is required', async () => {
    const plain = createServer((socket) => socket.on('data', () => socket.write('N')))
    const { port: at } = await listen(plain)
    expect(await refusalOf(`postgres://u@127.0.0.1:${at}/d?sslmode=require`)).toBe('store-tls')
  })

  test('a database without a free connection is refused with a hint about `max_connections`', async () => {
    cluster.sql('ALTER ROLE nobody CONNECTION LIMIT 0')
    await expect(opening(cluster.urlOf('nobody'))).rejects.toMatchObject({
      code: 'store-unreachable',
      message: expect.stringContaining('has no more connections'),
      hint: expect.stringContaining('max_connections'),
    })
    cluster.sql('ALTER ROLE nobody CONNECTION LIMIT -1')
  })

  test('a schema without its tables, or with foreign tables, is refused as `store-corrupt`', async () => {
    const server = serverOf(cluster.url)
    const [lost, others] = [freshSchema(), freshSchema()]
    await openOn(server, lost)
    cluster.sql(`DROP TABLE ${lost}.state`)
    cluster.sql(`CREATE SCHEMA ${others}; CREATE TABLE ${others}.state (id int, name text)`)
    for (const schema of [lost, others]) {
      await expect(openOn(server, schema)).rejects.toMatchObject({ code: 'store-corrupt' })
    }
  })

  test('a schema whose tables another session locks is refused as `store-in-use`', async () => {
    const server = serverOf(cluster.url)
    const schema = freshSchema()
    await openOn(server, schema)
    const somebody = new Client({
      host: cluster.folder,
      user: 'postern',
      database: 'postgres',
      port,
    })
    await somebody.connect()
    await somebody.query('BEGIN')
    await somebody.query(`LOCK TABLE ${schema}.state IN ACCESS EXCLUSIVE MODE`)
    await expect(openOn(server, schema)).rejects.toMatchObject({ code: 'store-in-use' })
    await somebody.end()
    await openOn(server, schema)
  })

  test('a schema name of 64 bytes is refused as `settings`', async () => {
    const server = serverOf(cluster.url)
    const long = openOn(server, 's'.repeat(64))
    await expect(long).rejects.toMatchObject({ code: 'settings' })
  })

  test('a read-only database is refused as `store-read-only`', async () => {
    cluster.sql('ALTER ROLE nobody SET default_transaction_read_only = on')
    expect(await refusalOf(cluster.urlOf('nobody'))).toBe('store-read-only')
    cluster.sql('ALTER ROLE nobody RESET default_transaction_read_only')
  })

  test('a schema of a later version, or from before 0.1.0, is refused, and an additive later one opens', async () => {
    const server = serverOf(cluster.url)
    const schema = freshSchema()
    await openOn(server, schema)
    const set = (version: number, oldest: number) =>
      databaseOf(server, schema).updateTable('state').set({ version, oldest }).execute()
    await set(99, NEWEST_VERSION)
    await put(await openOn(server, schema), 'a', 'b')
    await set(99, 99)
    await expect(openOn(server, schema)).rejects.toMatchObject({
      code: 'store-newer',
      message: `the store has version 99, and this Postern knows versions up to ${NEWEST_VERSION}`,
    })
    await set(FIRST_VERSION - 1, 0)
    await expect(openOn(server, schema)).rejects.toMatchObject({
      code: 'store-older',
      message: expect.stringContaining('from before Postern 0.1.0'),
    })
  })

  test('a database that is behind `database.json` is refused until the operator removes `database.json`', async () => {
    const schema = freshSchema()
    const dataDir = temporary()
    const open = async () => await openOn(serverOf(cluster.url), schema, { dataDir })
    const store = await open()
    await put(store, 'a', 'b')
    await store[Symbol.asyncDispose]()
    cluster.sql(`UPDATE ${schema}.state SET epoch = epoch - 1`)
    await expect(open()).rejects.toMatchObject({ code: 'store-rolled-back' })
    cluster.sql(`DROP SCHEMA ${schema} CASCADE`)
    await expect(open()).rejects.toMatchObject({ code: 'store-rolled-back' })
    rmSync(join(dataDir, 'database.json'))
    await put(await open(), 'a', 'b')
  })

  test('an empty database is refused as `store-missing` while the data directory holds a store', async () => {
    const dataDir = temporary()
    await made(dataDir)
    expect(await refusalOf(cluster.url, { dataDir })).toBe('store-missing')
    expect(existsSync(join(dataDir, 'sidecar.lock'))).toBe(false)
  })

  test('a missing protection is refused as `store-corrupt`, and a wrong passphrase as `store-passphrase`', async () => {
    const server = serverOf(cluster.url)
    const schema = freshSchema()
    const o = { passphrase: 'right', protection: 'passphrase' } as const
    await (await openOn(server, schema, o)).secret('a')
    const again = { ...o, passphrase: 'wrong-password' }
    await expect(openOn(server, schema, again)).rejects.toMatchObject({ code: 'store-passphrase' })
    await databaseOf(server, schema).deleteFrom('protection').execute()
    await expect(openOn(server, schema, o)).rejects.toMatchObject({ code: 'store-corrupt' })
  })
})
