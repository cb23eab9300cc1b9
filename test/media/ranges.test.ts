import { beforeAll, expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { fetched, named, picture, sealedBy } from './support.ts'

const stage = useStage()
const content = picture(200_000)
let url = ''
let tag = ''

beforeAll(async () => {
  const from = await stage.friend()
  const sealed = await sealedBy(from, stage, content)
  url = await named(stage, sealed, { chat: stage.privateChat(from), from })
  tag = (await fetched(stage, url)).headers.get('etag') ?? ''
})

const part = async (range: string, more: Record<string, string> = {}) =>
  await fetched(stage, url, { headers: { range, ...more } })

test.each([
  ['bytes=0-0', 0, 1],
  ['bytes=0-99', 0, 100],
  ['bytes=65530-65545', 65_530, 65_546],
  ['bytes=100000-', 100_000, content.length],
  ['bytes=-1', content.length - 1, content.length],
  ['bytes=-999999999', 0, content.length],
  ['bytes=5-999999999', 5, content.length],
  ['Bytes=1-2', 1, 3],
])('%s is answered with that part alone', async (range, start, end) => {
  const { status, headers, body } = await part(range)
  expect(status).toBe(206)
  expect(body.equals(content.subarray(start, end))).toBe(true)
  expect(headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${content.length}`)
  expect(headers.get('content-length')).toBe(String(end - start))
  expect(headers.get('content-type')).toBe('image/png')
})

test.each([
  'bytes=0-1,5-9',
  'bytes=9-5',
  'bytes=a-b',
  'bytes=',
  'bytes=-',
  'items=0-5',
  'bytes 0-5',
])('%s is answered with all of it', async (range) => {
  const { status, headers, body } = await part(range)
  expect(status).toBe(200)
  expect(headers.get('content-range')).toBeNull()
  expect(body.equals(content)).toBe(true)
})

test.each([`bytes=${content.length}-`, 'bytes=99999999-99999999', 'bytes=-0'])(
  '%s is beyond its end, and the answer says where that is',
  async (range) => {
    const { status, headers, code } = await part(range)
    expect({ status, code }).toEqual({ status: 416, code: 'bad_request' })
    expect(headers.get('content-range')).toBe(`bytes */${content.length}`)
  },
)

test('If-Range gives the part of the same content, and all of any other', async () => {
  expect(tag).toMatch(/^"[\w-]{22}"$/)
  expect((await part('bytes=0-9', { 'if-range': tag })).status).toBe(206)
  for (const other of ['"other"', `W/${tag}`, 'Thu, 01 Jan 2026 00:00:00 GMT']) {
    const { status, body } = await part('bytes=0-9', { 'if-range': other })
    expect({ status, length: body.length }).toEqual({ status: 200, length: content.length })
  }
})

test('a HEAD takes no part', async () => {
  const { status, headers } = await fetched(stage, url, {
    method: 'HEAD',
    headers: { range: 'bytes=0-9' },
  })
  expect(status).toBe(200)
  expect(headers.get('content-length')).toBe(String(content.length))
})

test('the tag is the same after a restart, so that what was begun can be gone on with', async () => {
  await stage.restart()
  const { status, body } = await part('bytes=1000-', { 'if-range': tag })
  expect(status).toBe(206)
  expect(body.equals(content.subarray(1000))).toBe(true)
})

test('of a file without a byte there is no part', async () => {
  const from = await stage.friend()
  const empty = await sealedBy(from, stage, Buffer.alloc(0))
  const path = await named(stage, empty, { chat: stage.privateChat(from), from })
  const { status, headers } = await fetched(stage, path, { headers: { range: 'bytes=0-' } })
  expect(status).toBe(416)
  expect(headers.get('content-range')).toBe('bytes */0')
})
