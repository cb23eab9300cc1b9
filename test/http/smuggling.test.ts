/** Requests framed so that two readers could see different ends of them: none carries a second one. */
import { expect, it } from 'vitest'
import { head, openDoor, outcome, raw } from './support.ts'

const TYPING = 'POST /bot/v1/chats/5/typing'
const TYPE = 'Content-Type: application/json'
/** What stands where one of two readers would begin to read the next request. */
const HIDDEN = head('GET /bot/v1/commands?hidden=1')
const BODY = '{}'

/** A request whose body, by some reading, ends before what is hidden. */
const framed = (...lines: string[]): string => head(TYPING, TYPE, ...lines)
const CHUNKS = `2\r\n${BODY}\r\n0\r\n\r\n`

it.each([
  ['chunks under another name', framed('Transfer-Encoding: xchunked') + CHUNKS],
  ['chunks before another coding', framed('Transfer-Encoding: chunked, identity') + CHUNKS],
  [
    'chunks twice, once as none',
    framed('Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + CHUNKS,
  ],
  ['chunks after a vertical tab', framed('Transfer-Encoding: \vchunked') + CHUNKS],
  ['chunks in a folded line', framed('Transfer-Encoding:', ' chunked') + CHUNKS],
  ['chunks under a name with a space', framed('Transfer-Encoding : chunked') + CHUNKS],
  ['chunks with a length', framed('Transfer-Encoding: chunked', 'Content-Length: 2') + CHUNKS],
  ['a length with a sign', `${framed('Content-Length: +2')}${BODY}`],
  ['a length in hexadecimal', `${framed('Content-Length: 0x2')}${BODY}`],
  ['a length with a list', `${framed('Content-Length: 2, 2')}${BODY}`],
  ['a length with words after it', `${framed('Content-Length: 2 bytes')}${BODY}`],
  ['a length above any number', `${framed(`Content-Length: ${'9'.repeat(30)}`)}${BODY}`],
  ['the same length twice', `${framed('Content-Length: 2', 'Content-Length: 2')}${BODY}`],
  [
    'a chunk of a negative length',
    `${framed('Transfer-Encoding: chunked')}-2\r\n${BODY}\r\n0\r\n\r\n`,
  ],
  ['a chunk of 0x2', `${framed('Transfer-Encoding: chunked')}0x2\r\n${BODY}\r\n0\r\n\r\n`],
  [
    'a chunk above any number',
    `${framed('Transfer-Encoding: chunked')}${'f'.repeat(17)}\r\n${BODY}`,
  ],
  ['chunks that end in LF', `${framed('Transfer-Encoding: chunked')}2\n${BODY}\n0\n\n`],
  [
    'a chunk that is longer than it says',
    `${framed('Transfer-Encoding: chunked')}1\r\n${BODY}\r\n0\r\n\r\n`,
  ],
  ['a CR alone in a header', `${framed('X-A: a\rContent-Length: 2')}${BODY}`],
  ['an empty name of a header', `${framed(': a', 'Content-Length: 2')}${BODY}`],
  [
    'a line before the headers',
    `${TYPING} HTTP/1.1\r\n Content-Length: 2\r\n${TYPE}\r\n\r\n${BODY}`,
  ],
  ['no version', `GET /bot/v1/commands\r\n\r\n`],
  [
    'a tab in the first line',
    head('POST\t/bot/v1/chats/5/typing', TYPE, 'Content-Length: 2') + BODY,
  ],
  ['the first line of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
])(
  'a request with %s is a bad request, and no request hidden after it is read',
  async (_what, bytes) => {
    const { port, seen } = await openDoor()
    const text = await raw(port, bytes + HIDDEN)
    expect(seen.filter(({ path }) => path.includes('hidden'))).toEqual([])
    expect(text.match(/^HTTP\/1\.1 \d+/gm) ?? []).toHaveLength(1)
    expect(outcome(text)).toEqual({ status: 400, code: 'bad_request' })
  },
)

it('no request hidden after chunks of HTTP/1.0 is read', async () => {
  const { port, seen } = await openDoor()
  const bytes = framed('Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0') + CHUNKS
  await raw(port, bytes + HIDDEN)
  expect(seen.filter(({ path }) => path.includes('hidden'))).toEqual([])
})

it('no request hidden in the body of a valid request is read', async () => {
  const { port, seen } = await openDoor({ parts: { allowUnknown: true } })
  const length = `Content-Length: ${HIDDEN.length}`
  await raw(
    port,
    head('POST /bot/v1/unknown', 'Content-Type: text/plain', 'Connection: close', length) + HIDDEN,
  )
  expect(seen.filter(({ path }) => path.includes('hidden'))).toEqual([])
})
