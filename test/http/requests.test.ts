/** The rows of `requests.yaml`, each as bytes at a door of its own. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { pathProblem } from '../../src/http/request-path.ts'
import type { Rule } from '../../src/kernel/wall/guard.ts'
import { head, openDoor, outcome, raw, TOKEN } from './support.ts'

interface Request {
  name?: string
  /** Status and code; `none` where the connection is closed without an answer. */
  answer: string | number
  /** What the message holds. */
  message?: string
  /** The body that the service gets of a call that passes. */
  gets?: string
  /** The route in the log. */
  route?: string
  start?: string
  host?: string | false
  token?: false
  headers?: string[]
  /** Beside the headers of the group. */
  with?: string[]
  body?: string
  all?: string
  /** Another request follows in the same bytes. */
  hides?: boolean
}
type Group = Request & { title: string; rows: (string | string[] | Request)[] }

const groups = parse(readFileSync(new URL('requests.yaml', import.meta.url), 'utf8')) as Group[]
const cases = groups.flatMap(({ title, rows, ...common }) =>
  rows.map((row) => {
    const isRequest = typeof row === 'object' && !Array.isArray(row)
    const own: Partial<Request> = isRequest ? row : { with: [row].flat() }
    const request: Request = { ...common, ...own }
    return [title, own.name ?? own.start ?? String(own.host ?? own.with), request] as const
  }),
)

const filled = (text: string): string =>
  text
    .replaceAll('{token}', TOKEN)
    .replace(/\{([^{}]+)\*(\d+)\}/g, (_all, one: string, count) => one.repeat(Number(count)))

function bytesOf(request: Request): string {
  const {
    start = 'GET /bot/v1/commands',
    host = 'localhost',
    token,
    headers = [],
    body = '',
    hides,
  } = request
  const lines = [...headers, ...(request.with ?? []), ...(hides ? [] : ['Connection: close'])]
  const top = head(start, ...lines)
    .replace('Host: localhost\r\n', host === false ? '' : `Host: ${host}\r\n`)
    .replace(/Authorization: .*\r\n/, token === undefined ? '$&' : '')
    .replace('{length}', String(Buffer.byteLength(filled(body))))
  const hidden = hides === true ? head('GET /bot/v1/commands?hidden=1') : ''
  return filled(request.all ?? top + body) + hidden
}

test.each(cases)('%s: %s', async (_title, _name, request) => {
  const rule = async (chatId: number) => ({ chatId, body: 'sealed', require: () => {} }) as Rule
  const parts = { allowUnknown: true, allowedHosts: ['Sidecar'], guard: { rule } }
  const { port, seen, lines } = await openDoor({ parts })
  const text = await raw(port, bytesOf(request))
  const answer = text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')
  if (request.answer === 'none') expect(answer).toBe('')
  else expect(Object.values(outcome(answer)).filter(Boolean).join(' ')).toBe(String(request.answer))
  expect(answer.match(/^HTTP\/1\.1 \d+/gm)?.length ?? 0).toBeLessThanOrEqual(1)
  expect(answer).toContain(request.message ?? '')
  expect(answer).not.toMatch(/access-control|\r\nallow:/i)
  const passes = String(request.answer) === '200'
  expect(seen.map(({ body }) => body)).toEqual(passes ? [request.gets ?? ''] : [])
  if (!('route' in request)) return
  expect(answer).toMatch(/\r\nconnection: close\r\n/i)
  expect(lines).toMatchObject([{ route: request.route, status: 400, code: 'bad_request' }])
})

test.each(['', 'evil.example:443', '/bot/v1/é', '/bot/v1/a b', '/bot/v1/a\u0001'])(
  'the target %j, which the parser of Node refuses, is none to the door either',
  (target) => expect(pathProblem(target, 2048)).not.toBeNull(),
)
