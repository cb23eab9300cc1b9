import { once } from 'node:events'
import { expect, it } from 'vitest'
import { call, head, opened, openDoor, outcome, raw, turnedAway } from './support.ts'

const TYPING = 'POST /bot/v1/chats/5/typing'
const send = (type: string[], body: string | Buffer) =>
  Buffer.concat([
    Buffer.from(
      head(TYPING, ...type, `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'),
    ),
    Buffer.from(body),
  ])
const json = (body: string | Buffer) => send(['Content-Type: application/json'], body)

it.each([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'Application/JSON ; Charset=utf-8',
  '  application/json',
])('a body of the type %j is accepted', async (type) => {
  const { port, seen } = await openDoor()
  const text = await raw(port, send([`Content-Type:${type}`], '{"typing":true}'))
  expect(outcome(text).status).toBe(200)
  expect(seen[0]?.body).toBe('{"typing":true}')
})

it.each([
  ['text/plain'],
  ['application/x-www-form-urlencoded'],
  ['multipart/form-data; boundary=x'],
  ['application/json garbage'],
  ['application/json\ta'],
  ['application/json, text/plain'],
  ['application/json; charset=utf-16'],
  ['application/json; charset=utf-8; x=y'],
  ['application/problem+json'],
  [''],
])('a body of the type %j is a bad request', async (type) => {
  expect(await turnedAway(send([`Content-Type: ${type}`], '{"typing":true}'))).toMatchObject({
    status: 400,
    code: 'bad_request',
  })
})

it('a body without a type, with two types or with an encoding is a bad request', async () => {
  const { port, seen } = await openDoor()
  const type = 'Content-Type: application/json'
  for (const lines of [[], [type, type], [type, 'Content-Encoding: gzip']]) {
    const text = await raw(port, send(lines, '{"typing":true}'))
    expect(outcome(text)).toEqual({ status: 400, code: 'bad_request' })
  }
  expect(seen).toEqual([])
  const plain = send([type, 'Content-Encoding: identity'], '{"typing":true}')
  expect(outcome(await raw(port, plain)).status).toBe(200)
})

const FORM = 'Content-Type: application/x-www-form-urlencoded'
const CHUNKED = 'Transfer-Encoding: chunked'

it.each([
  [[]],
  [['Content-Type: application/json']],
  [['Content-Length: 0']],
  [['Content-Type: application/octet-stream', 'Content-Length: 0']],
  [['Content-Type: nonsense', 'Content-Type: a/b', 'Content-Length: 0']],
  [[FORM, 'Content-Encoding: gzip', 'Content-Length: 0']],
  [[FORM, CHUNKED, 'Expect: 100-continue']],
])('an empty body with the headers %j is no body', async (lines) => {
  const { port, seen } = await openDoor()
  const chunks = lines.includes(CHUNKED) ? '0\r\n\r\n' : ''
  const text = await raw(port, `${head(TYPING, ...lines, 'Connection: close')}${chunks}`)
  expect(outcome(text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')).status).toBe(200)
  expect(seen.map(({ body, headers }) => [body, headers['content-type']])).toEqual([
    ['', undefined],
  ])
})

it('the body of a `GET` request is read and dropped, of any type', async () => {
  const { port, seen } = await openDoor()
  const get = (...lines: string[]) => head('GET /bot/v1/commands', ...lines, 'Connection: close')
  const type = 'Content-Type: application/json'
  for (const request of [
    get(type),
    `${get(type, 'Content-Length: 2')}{}`,
    `${get('Content-Type: nonsense', 'Content-Length: 5')}words`,
    `${get('Content-Length: 5')}words`,
    `${get(type, 'Transfer-Encoding: chunked')}5\r\nwords\r\n0\r\n\r\n`,
  ]) {
    expect(outcome(await raw(port, request))).toEqual({ status: 200, code: undefined })
  }
  expect(seen.map(({ method, body }) => [method, body])).toEqual(
    Array.from({ length: 5 }, () => ['GET', '']),
  )
})

it('the body of a `GET` request over 256 KiB is refused with 413, declared or chunked', async () => {
  const { port, seen } = await openDoor()
  const get = (line: string) => head('GET /bot/v1/commands', line)
  const declared = await raw(port, get('Content-Length: 262145'))
  expect(outcome(declared)).toEqual({ status: 413, code: 'too_large' })
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  const chunks = Array.from({ length: 5 }, () => chunk)
  const chunked = await raw(port, get('Transfer-Encoding: chunked'), ...chunks)
  expect(outcome(chunked)).toEqual({ status: 413, code: 'too_large' })
  expect(seen).toEqual([])
})

it('the request after the body of a `GET` request is read from its beginning', async () => {
  const { port, seen } = await openDoor()
  const first = `${head('GET /bot/v1/commands', 'Content-Length: 40')}${'GET /bot/v1/resolve/x HTTP/1.1\r\n'.padEnd(40)}`
  await raw(port, first, head('GET /bot/v1/resolve/alice', 'Connection: close'))
  const paths = seen.map(({ path }) => path)
  expect(paths.toSorted()).toEqual(['/bot/v1/commands', '/bot/v1/resolve/alice'])
})

it.each([
  ['null', 'null'],
  ['a list', '[]'],
  ['a string', '"x"'],
  ['a number', '5'],
  ['an end too early', '{"typing":tr'],
  ['text after it', '{} {}'],
  ['a byte-order mark first', '\ufeff{}'],
  ['a key twice', '{"typing":true,"typing":false}'],
  ['a key twice, once escaped', '{"typing":true,"\\u0074yping":false}'],
  ['a prototype', '{"__proto__":{"typing":true}}'],
  ['a constructor', '{"constructor":{"prototype":{}}}'],
  ['a lone surrogate', '{"typing":"\\ud800"}'],
  ['a depth of 100 000', '['.repeat(100_000)],
  ['a depth of 100 000, all closed', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['a depth of 33', '{"typing":' + '['.repeat(33) + ']'.repeat(33) + '}'],
])('a JSON body that is or has %s is a bad request', async (_what, body) => {
  expect(await turnedAway(json(body))).toMatchObject({ status: 400, code: 'bad_request' })
})

it('a JSON body with bytes that are not UTF-8 is a bad request', async () => {
  const body = Buffer.from([...Buffer.from('{"typing":"'), 0xff, ...Buffer.from('"}')])
  expect(await turnedAway(json(body))).toMatchObject({ status: 400, code: 'bad_request' })
})

it('a body of exactly 256 KiB is read', async () => {
  const world = await openDoor()
  const body = `{"typing":true${' '.repeat(262_144 - 15)}}`
  expect(body.length).toBe(262_144)
  expect((await call(world, 'POST', '/bot/v1/chats/5/typing', { body })).status).toBe(200)
})

it('a body over 256 KiB is refused with 413, declared or chunked, and the connection closes', async () => {
  const world = await openDoor()
  const body = `{"typing":true${' '.repeat(262_144 - 14)}}`
  const { status, json: reply } = await call(world, 'POST', '/bot/v1/chats/5/typing', { body })
  expect({ status, code: reply.error?.code }).toEqual({ status: 413, code: 'too_large' })

  const type = 'Content-Type: application/json'
  const declared = await raw(world.port, head(TYPING, type, 'Content-Length: 2000000000'))
  expect(outcome(declared)).toEqual({ status: 413, code: 'too_large' })

  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  const endless = head(TYPING, type, 'Transfer-Encoding: chunked')
  const chunked = await raw(world.port, endless, ...Array.from({ length: 5 }, () => chunk))
  expect(outcome(chunked)).toEqual({ status: 413, code: 'too_large' })
  expect(world.seen).toEqual([])
})

const waiting = ['Content-Type: application/json', 'Expect: 100-continue', 'Connection: close']

it('a body with Expect: 100-continue is requested once its head is valid', async () => {
  const { port, seen } = await openDoor()
  const socket = await opened(port)
  socket.write(head(TYPING, ...waiting, 'Content-Length: 15'))
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('{"typing":true}')
  const [second] = (await once(socket, 'data')) as [Buffer]
  expect(outcome(second.toString()).status).toBe(200)
  expect(seen).toHaveLength(1)
})

it('a body with Expect: 100-continue is not requested when its head is refused or too large', async () => {
  const { port } = await openDoor()
  const large = await raw(port, head(TYPING, ...waiting, 'Content-Length: 262145'))
  expect(large).toMatch(/^HTTP\/1.1 413 /)
  const other = await raw(port, head(TYPING, ...waiting, 'Content-Length: 9', 'Origin: x'))
  expect(other).toMatch(/^HTTP\/1.1 403 /)
})

it('an Expect header other than 100-continue is a bad request', async () => {
  const { port } = await openDoor()
  expect(outcome(await raw(port, head(TYPING, 'Expect: 200-ok'))).status).toBe(400)
})
