import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { raw } from '../http/support.ts'
import bytes from './bytes.json' with { type: 'json' }
import calls from './calls.json' with { type: 'json' }
import { openCallerWorld, type CallerWorld } from './world.ts'

interface RawCall {
  call: string
  headers?: string[]
  /** Its characters are written as UTF-8, with chunks where the headers name them. */
  body?: string
  promise?: string
}

let worlds: CallerWorld[]
beforeAll(async () => {
  worlds = await Promise.all([openCallerWorld('direct'), openCallerWorld('sidecar')])
}, 60_000)
afterAll(() => Promise.all(worlds.map((world) => world[Symbol.asyncDispose]())))

async function answerOf(world: CallerWorld, { call, headers = [], body = '' }: RawCall) {
  const { fill, base, sandbox } = world
  const [method = '', target = ''] = fill(call).split(' ')
  const content = fill(body)
  const lines = [
    `${method} ${target.startsWith('/') ? `/bot/v1${target}` : target} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${sandbox.token}`,
    ...headers.map((line) => line.replace('{length}', String(Buffer.byteLength(content)))),
    'Connection: close',
  ]
  const text = await raw(Number(new URL(base).port), `${lines.join('\r\n')}\r\n\r\n${content}`)
  const [head = '', ...rest] = text.replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, '').split('\r\n\r\n')
  const [, status] = head.split(' ')
  const [, type = null] = /\r\ncontent-type: (.*)/i.exec(head) ?? []
  return world.comparable({ status: Number(status), type, body: rest.join('') })
}

const ROWS = (bytes as RawCall[]).map((row) => [JSON.stringify(row), row] as const)

test.each(ROWS)('both ways give one answer to %s, or differ by its promise', async (_name, row) => {
  const [direct, through] = await Promise.all(worlds.map((world) => answerOf(world, row)))
  if (row.promise === undefined) expect(through).toEqual(direct)
  else expect(through).not.toEqual(direct)
})

test('each promise is a part of the page of the door', () => {
  const page = readFileSync('src/http/README.md', 'utf8')
  const promises = [...(bytes as RawCall[]), ...(calls as RawCall[])].flatMap(
    ({ promise = [] }) => promise,
  )
  expect([...new Set(promises)].filter((promise) => !page.includes(promise))).toEqual([])
})
