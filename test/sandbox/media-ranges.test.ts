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

const WHOLE = [200, undefined, '0123456789'] as const
const BEYOND = [416, 'bytes */10', ''] as const

test.each([
  ['bytes=0-3', 206, 'bytes 0-3/10', '0123'],
  ['bytes=4-4', 206, 'bytes 4-4/10', '4'],
  ['bytes=7-', 206, 'bytes 7-9/10', '789'],
  ['bytes=8-100', 206, 'bytes 8-9/10', '89'],
  ['bytes=-3', 206, 'bytes 7-9/10', '789'],
  ['bytes=-100', 206, 'bytes 0-9/10', '0123456789'],
  ['BYTES=0-0', 206, 'bytes 0-0/10', '0'],
  ...['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-'].map(
    (range) => [range, ...BEYOND] as const,
  ),
  ...['bytes=0-1,4-5', 'bytes=5-2', 'bytes=', 'bytes=a-b', 'chars=0-1', 'bytes=-', ''].map(
    (range) => [range, ...WHOLE] as const,
  ),
] as const)(
  'a media request with `Range: %s` is answered with %i',
  async (range, status, part, body) => {
    const answer = await media({ range })
    expect(answer).toMatchObject({ status, range: part, body })
    if (status !== 416) expect(answer).toMatchObject({ accepts: 'bytes', length: `${body.length}` })
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

test('a Range of an empty file is answered with 416, and a suffix with the whole file', async () => {
  const { url } = await sandbox.control.addMedia({ base64: '' })
  expect(await media({}, { of: url })).toMatchObject({ status: 200, length: '0', body: '' })
  expect(await media({ range: 'bytes=-1' }, { of: url })).toMatchObject({
    status: 200,
    length: '0',
  })
  const first = await media({ range: 'bytes=0-0' }, { of: url })
  expect(first).toMatchObject({ status: 416, range: 'bytes */0' })
})
