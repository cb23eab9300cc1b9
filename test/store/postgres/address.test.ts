/** The URL of a database, and what is refused of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  describeAddress,
  describePlace,
  parseAddress,
} from '../../../src/store/postgres/address.ts'
import { temporary } from '../support.ts'

const AUTHORITY = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n'
const TLS = { ca: undefined }

test.each([
  ['postgres://u@db/bots', { host: 'db', port: 5432, tls: TLS }],
  ['postgresql://u@DB.Example:6000/bots', { host: 'db.example', port: 6000, tls: TLS }],
  ['postgres://u@db/bots?sslmode=prefer', { tls: TLS }],
  ['postgres://u@db/bots?sslmode=verify-full', { tls: TLS }],
  ['postgres://u:a%3Ab%40@db/bots', { password: 'a:b@', user: 'u' }],
  ['postgres://u%20v@db/bots%20x', { user: 'u v', database: 'bots x', password: undefined }],
  ['postgres://u@localhost/bots', { host: 'localhost', tls: null }],
  ['postgres://u@LOCALHOST/bots?sslmode=disable', { host: 'localhost', tls: null }],
  ['postgres://u@127.8.9.1/bots', { host: '127.8.9.1', tls: null }],
  ['postgres://u@128.0.0.1/bots', { host: '128.0.0.1', tls: TLS }],
  ['postgres://u@127.example/bots', { host: '127.example', tls: TLS }],
  ['postgres://u@[::1]/bots', { host: '::1', tls: null }],
  ['postgres://u@[2001:db8::1]:6000/bots', { host: '2001:db8::1', port: 6000, tls: TLS }],
  ['postgres://u@localhost/bots?sslmode=require', { tls: TLS }],
  ['postgres://u@/bots?host=/run/pg', { host: '/run/pg', port: 5432, tls: null }],
  ['postgres://u@/bots?host=/run/pg&port=6000', { host: '/run/pg', port: 6000 }],
  ['postgres://u@/bots?host=/run/pg&sslmode=require', { tls: null }],
  ['postgres://u@db:6000/bots?port=65535', { port: 65_535 }],
  ['postgres://u@db/bots?port=0', { port: 0 }],
])('the database URL %s is parsed', (url, expected) => {
  const found = parseAddress(url)
  expect(found).toMatchObject(expected)
  const names = ['database', 'host', 'password', 'port', 'tls', 'user']
  expect(Object.keys(found).toSorted()).toEqual(names)
})

test.each([
  ['mysql://u@db/bots', 'is no URL that begins with postgres://'],
  ['xpostgres://u@db/bots', 'is no URL that begins with postgres://'],
  ['postgres:u@db/bots', 'is no URL that begins with postgres://'],
  ['postgres://u@db,other/bots', 'names several hosts'],
  ['postgres://db,other/bots', 'names several hosts'],
  ['postgres://u@d b/bots', 'is no URL'],
  ['postgres://u@db:99999/bots', 'is no URL'],
  ['postgres://u@db', 'names no database'],
  ['postgres://u@db/', 'names no database'],
  ['postgres://u@db/a/b', 'names no database'],
  ['postgres://db/bots', 'names no user'],
  ['postgres://:x@db/bots', 'names no user'],
  ['postgres://u@/bots', 'names no host'],
  ['postgres://u@ss/word@db/bots', 'has a raw @ or # behind the host'],
  ['postgres://u@ss/word@db', 'has a raw @ or # behind the host'],
  ['postgres://u@ss?word@db/bots', 'has a raw @ or # behind the host'],
  ['postgres://u@ss/wo#rd@db/bots', 'has a raw @ or # behind the host'],
  ['postgres://u@ss/bots#word', 'has a raw @ or # behind the host'],
  ['postgres://12/word@db/bots', 'has a raw @ or # behind the host'],
  ['postgres://u%zz@db/bots', 'has a percent sign that escapes nothing'],
  ['postgres://u@db/bots?user=x', 'has a parameter other than host, port, sslmode, sslrootcert'],
  ['postgres://u@db/bots?sslmode=off', 'has an unknown sslmode'],
  ['postgres://u@db/bots?sslmode=', 'has an unknown sslmode'],
  ['postgres://u@db/bots?sslmode=disable', 'turns TLS off for a host that is not this machine'],
  ['postgres://u@/bots?host=run/pg', 'has a parameter `host`'],
  ['postgres://u@db/bots?host=/run/pg', 'has a parameter `host`'],
  ['postgres://u@db/bots?port=65536', 'has a parameter `port` that is none'],
  ['postgres://u@db/bots?port=x1', 'has a parameter `port` that is none'],
  ['postgres://u@db/bots?port=1x', 'has a parameter `port` that is none'],
  ['postgres://u@db/bots?port=123456', 'has a parameter `port` that is none'],
  ['postgres://u@db/bots?port=', 'has a parameter `port` that is none'],
  ['postgres://u@db/bots?sslrootcert=/nowhere', 'names a file of authorities'],
])('the database URL %s is refused without its password, because the URL %s', (url, problem) => {
  const given = url.replace('u@', 'u:hidden@')
  const refused = { code: 'settings', hint: expect.stringContaining('give postgres://') as string }
  expect(() => parseAddress(given)).toThrow(expect.objectContaining(refused) as Error)
  expect(() => parseAddress(given)).toThrow(`the settings are refused: store.url: ${problem}`)
  expect(() => parseAddress(given)).not.toThrow('hidden')
})

test('the CA file in the settings overrides the CA file of the database URL, and must hold PEM', () => {
  const folder = temporary()
  const [one, two, none] = ['one', 'two', 'none'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(one, `one\n${AUTHORITY}`)
  writeFileSync(two, AUTHORITY)
  writeFileSync(none, 'none')
  const url = `postgres://u@db/bots?sslrootcert=${two}`
  expect(parseAddress(url).tls).toEqual({ ca: AUTHORITY })
  expect(parseAddress(url, one).tls).toEqual({ ca: `one\n${AUTHORITY}` })
  expect(parseAddress('postgres://u@localhost/bots', none).tls).toBeNull()
  expect(() => parseAddress(url, none)).toThrow('that holds none in PEM')
})

test.each([
  ['postgres://u@db/bots', 'bots at db:5432 as u'],
  ['postgres://u:hidden@[::1]:6000/bots', 'bots at [::1]:6000 as u'],
  ['postgres://u@/bots?host=/run/pg', 'bots at /run/pg as u'],
])('the database URL %s is described as "%s"', (url, description) => {
  const address = parseAddress(url)
  expect(describeAddress(address)).toBe(description)
  expect(describePlace(address, 'one')).toBe(`${description}, schema one`)
})
