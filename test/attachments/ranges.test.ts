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
  ['bytes=65530-65545', 65_530, 65_546],
  ['bytes=100000-', 100_000, content.length],
  ['bytes=-1', content.length - 1, content.length],
])('a file request with the range %s is answered with its part', async (range, start, end) => {
  const { status, headers, body } = await part(range)
  expect(status).toBe(206)
  expect(body.equals(content.subarray(start, end))).toBe(true)
  expect(headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${content.length}`)
  expect(headers.get('content-length')).toBe(String(end - start))
  expect(headers.get('content-type')).toBe('image/png')
})

test.each(['bytes=0-1,5-9', 'items=0-5'])(
  'a file request with the range %s is answered with the whole file',
  async (range) => {
    const { status, headers, body } = await part(range)
    expect(status).toBe(200)
    expect(headers.get('content-range')).toBeNull()
    expect(body.equals(content)).toBe(true)
  },
)

test.each([`bytes=${content.length}-`, 'bytes=-0'])(
  'a file request with the range %s beyond the end is 416 with the size of the file',
  async (range) => {
    const { status, headers, code } = await part(range)
    expect({ status, code }).toEqual({ status: 416, code: 'bad_request' })
    expect(headers.get('content-range')).toBe(`bytes */${content.length}`)
  },
)

test('a file request with If-Range is answered with the part for the same tag, or else the whole file', async () => {
  expect(tag).toMatch(/^"[\w-]{22}"$/)
  expect((await part('bytes=0-9', { 'if-range': tag })).status).toBe(206)
  for (const other of ['"other"', `W/${tag}`, 'Thu, 01 Jan 2026 00:00:00 GMT']) {
    const { status, body } = await part('bytes=0-9', { 'if-range': other })
    expect({ status, length: body.length }).toEqual({ status: 200, length: content.length })
  }
})

test('a HEAD request for a file ignores its range', async () => {
  const { status, headers } = await fetched(stage, url, {
    method: 'HEAD',
    headers: { range: 'bytes=0-9' },
  })
  expect(status).toBe(200)
  expect(headers.get('content-length')).toBe(String(content.length))
})

test('the tag of a file is the same after a restart, so that a download can continue', async () => {
  await stage.restart()
  const { status, body } = await part('bytes=1000-', { 'if-range': tag })
  expect(status).toBe(206)
  expect(body.equals(content.subarray(1000))).toBe(true)
})

test('a range of an empty file is 416', async () => {
  const from = await stage.friend()
  const empty = await sealedBy(from, stage, Buffer.alloc(0))
  const path = await named(stage, empty, { chat: stage.privateChat(from), from })
  const { status, headers } = await fetched(stage, path, { headers: { range: 'bytes=0-' } })
  expect(status).toBe(416)
  expect(headers.get('content-range')).toBe('bytes */0')
})
