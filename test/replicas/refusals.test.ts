/** Why a store in a database does not open, each reason by its code. */
import { execFileSync } from '../support/programs.ts'
import { existsSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OperatorError } from '../../src/errors.ts'
import { FIRST_VERSION, NEWEST_VERSION } from '../../src/store/migrations.ts'
import { databaseOf } from '../../src/replicas/migrate.ts'
import { PostgresServer } from '../../src/replicas/server.ts'
import { freshSchema, hasPostgres, ownCluster, type Cluster } from '../support/postgres.ts'
import { made, put, temporary } from '../store/support.ts'
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

describe.skipIf(!hasPostgres())('a database', () => {
  test('that is not there is unreachable, by socket, address or name', async () => {
    const nobody = await freePort()
    for (const url of [
      'postgres://postern@/postgres?host=/nowhere',
      `postgres://postern:wrong-password@127.0.0.1:${nobody}/postgres`,
      'postgres://postern@no-such-host.invalid/postgres',
    ]) {
      expect(await refusalOf(url)).toBe('store-unreachable')
    }
  })

  test('that wants another password, or knows no such user, lets nobody in', async () => {
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

  test('that there is none by that name is missing, as is a store that must be there', async () => {
    expect(await refusalOf(cluster.urlOf('postern', 'nothing'))).toBe('store-no-database')
    expect(await refusalOf(cluster.url, { mode: 'existing' })).toBe('store-missing')
  })

  test('that lets this user make nothing says so', async () => {
    expect(await refusalOf(cluster.urlOf('nobody'))).toBe('store-rights')
  })

  test('whose certificate nobody known has signed, or of another name, is not believed', async () => {
    const ca = encodeURIComponent(join(cluster.folder, 'certificate'))
    const at = (host: string, more = '') =>
      `postgres://postern@${host}:${port}/postgres?sslmode=require${more}`
    expect(await refusalOf(at('localhost'))).toBe('store-tls')
    expect(await refusalOf(at('127.0.0.1', `&sslrootcert=${ca}`))).toBe('store-tls')
    await put(await opening(at('localhost', `&sslrootcert=${ca}`)), 'a', 'b')
  })

  test('that speaks no TLS where it is asked for is not believed either', async () => {
    const plain = createServer((socket) => socket.on('data', () => socket.write('N')))
    await new Promise<void>((resolve) => void plain.listen(0, '127.0.0.1', resolve))
    const { port: at } = plain.address() as AddressInfo
    expect(await refusalOf(`postgres://u@127.0.0.1:${at}/d?sslmode=require`)).toBe('store-tls')
    plain.close()
  })

  test('that has no more connections says so, and how many a sidecar takes', async () => {
    cluster.sql('ALTER ROLE nobody CONNECTION LIMIT 0')
    await expect(opening(cluster.urlOf('nobody'))).rejects.toMatchObject({
      code: 'store-unreachable',
      message: expect.stringContaining('has no more connections'),
      hint: expect.stringContaining('max_connections'),
    })
    cluster.sql('ALTER ROLE nobody CONNECTION LIMIT -1')
  })

  test('that has lost tables of a store, or holds others by that name, is damaged', async () => {
    const server = serverOf(cluster.url)
    const [lost, others] = [freshSchema(), freshSchema()]
    await openOn(server, lost)
    cluster.sql(`DROP TABLE ${lost}.state`)
    cluster.sql(`CREATE SCHEMA ${others}; CREATE TABLE ${others}.state (id int, name text)`)
    for (const schema of [lost, others]) {
      await expect(openOn(server, schema)).rejects.toMatchObject({ code: 'store-corrupt' })
    }
  })

  test('in which somebody keeps the store’s tables locked is in use', async () => {
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

  test('gives no schema a name that it would cut off', async () => {
    const server = serverOf(cluster.url)
    const long = openOn(server, 's'.repeat(64))
    await expect(long).rejects.toMatchObject({ code: 'settings' })
  })

  test('that is a standby takes no store', async () => {
    cluster.sql('ALTER ROLE nobody SET default_transaction_read_only = on')
    expect(await refusalOf(cluster.urlOf('nobody'))).toBe('store-read-only')
    cluster.sql('ALTER ROLE nobody RESET default_transaction_read_only')
  })

  test('whose schema is too new or of before 0.1.0 is refused, and one that only has more is not', async () => {
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

  test('that is behind what this sidecar saw of it in its last life is refused, until that is removed', async () => {
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

  test('without a store is not filled while a folder holds one that was not brought over', async () => {
    const dataDir = temporary()
    await made(dataDir)
    expect(await refusalOf(cluster.url, { dataDir })).toBe('store-missing')
    expect(existsSync(join(dataDir, 'sidecar.lock'))).toBe(false)
  })

  test('whose protection is gone, or is another, is damaged or locked', async () => {
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

describe('a URL', () => {
  test.each([
    ['no URL that begins', 'https://db/x'],
    ['no user', 'postgres://db/x'],
    ['no database', 'postgres://u@db'],
    ['no host', 'postgres://u@/x'],
    ['several hosts', 'postgres://u@a,b/x'],
    ['several hosts', 'postgres://u@a:5432,b:5433/x'],
    ['turns TLS off', 'postgres://u@db/x?sslmode=disable'],
    ['turns TLS off', 'postgres://u@127.0.0.1.example.org/x?sslmode=disable'],
    ['unknown sslmode', 'postgres://u@db/x?sslmode=maybe'],
    ['a parameter other', 'postgres://u@db/x?options=-c%20a=b'],
    ['beside a host', 'postgres://u@db/x?host=/run'],
    ['no folder of a socket', 'postgres://u@/x?host=db'],
    ['percent sign', 'postgres://u:%zz@db/x'],
    ['holds none in PEM', 'postgres://u@db/x?sslrootcert=/dev/null'],
  ])('that is wrong (%s) is refused without being repeated', (problem, url) => {
    const made_ = (): unknown => new PostgresServer({ url: url.replace('u@', 'u:pass-word@') })
    expect(made_).toThrow(problem)
    expect(made_).toThrow(expect.not.stringContaining('pass-word') as never)
  })

  test('asks for TLS of every host but this machine', () => {
    const tls = (url: string) => new PostgresServer({ url }).address.tls
    for (const near of ['localhost', '127.0.0.1', '[::1]']) {
      expect(tls(`postgres://u@${near}/x`)).toBeNull()
      expect(tls(`postgres://u@${near}/x?sslmode=verify-full`)).not.toBeNull()
    }
    expect(tls('postgres://u@/x?host=/run')).toBeNull()
    for (const far of ['db', '10.0.0.1', 'localhost.example.org']) {
      expect(tls(`postgres://u@${far}/x`)).not.toBeNull()
    }
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port: free } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return free
}
