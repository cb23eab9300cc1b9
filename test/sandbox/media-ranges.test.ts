import { expect, test } from 'vitest'
import { rawRequest } from './raw-request.ts'
import { useSandbox } from './support.ts'

const sandbox = await useSandbox({ clock: 'running' })
const base64 = Buffer.from('0123456789').toString('base64')
const { url: path } = await sandbox.control.addMedia({ base64 })

/** Status, the headers that matter, and the body. */
async function media(headers: Record<string, string>, o: { method?: string; of?: string } = {}) {
  const { method = 'GET', of = path } = o
  const answer = await rawRequest(sandbox.url, { method, path: of, headers })
  const { status, body } = answer
  const { 'content-range': range, 'content-length': length } = answer.headers
  return { status, range, length, accepts: answer.headers['accept-ranges'], body }
}

test.each([
  ['bytes=0-3', 'bytes 0-3/10', '0123'],
  ['bytes=4-4', 'bytes 4-4/10', '4'],
  ['bytes=7-', 'bytes 7-9/10', '789'],
  ['bytes=8-100', 'bytes 8-9/10', '89'],
  ['bytes=-3', 'bytes 7-9/10', '789'],
  ['bytes=-100', 'bytes 0-9/10', '0123456789'],
  ['BYTES=0-0', 'bytes 0-0/10', '0'],
])('a media request with `Range: %s` is answered with 206 and %s', async (range, part, body) => {
  expect(await media({ range })).toEqual({
    status: 206,
    range: part,
    length: String(body.length),
    accepts: 'bytes',
    body,
  })
})

test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-'])(
  'a media request with `Range: %s` beyond the file is answered with 416',
  async (range) => {
    expect(await media({ range })).toMatchObject({ status: 416, range: 'bytes */10', body: '' })
  },
)

test.each(['bytes=0-1,4-5', 'bytes=5-2', 'bytes=', 'bytes=a-b', 'chars=0-1', 'bytes=-', ''])(
  'a media request with `Range: %s` is answered with the whole file',
  async (range) => {
    expect(await media({ range })).toMatchObject({
      status: 200,
      range: undefined,
      length: '10',
      body: '0123456789',
    })
  },
)

test('a media request without Range, or with If-Range, is answered with the whole file', async () => {
  const whole = { status: 200, accepts: 'bytes', length: '10', body: '0123456789' }
  expect(await media({})).toMatchObject(whole)
  expect(await media({ range: 'bytes=0-3', 'if-range': '"a"' })).toMatchObject(whole)
})

test('a `HEAD` request for a file is answered with the headers of the whole file and no body', async () => {
  const head = { status: 200, accepts: 'bytes', length: '10', range: undefined, body: '' }
  expect(await media({}, { method: 'HEAD' })).toEqual(head)
  expect(await media({ range: 'bytes=0-3' }, { method: 'HEAD' })).toEqual(head)
})

test('a `GET` or `HEAD` request with Range for an unknown file is 404', async () => {
  for (const method of ['GET', 'HEAD']) {
    const missing = await media({ range: 'bytes=0-3' }, { method, of: '/media/nothing' })
    expect([missing.status, missing.range]).toEqual([404, undefined])
  }
})

test('any Range of an empty file is answered with 416', async () => {
  const { url } = await sandbox.control.addMedia({ base64: '' })
  expect(await media({}, { of: url })).toMatchObject({ status: 200, length: '0', body: '' })
  for (const range of ['bytes=0-0', 'bytes=-1']) {
    expect(await media({ range }, { of: url })).toMatchObject({ status: 416, range: 'bytes */0' })
  }
})
