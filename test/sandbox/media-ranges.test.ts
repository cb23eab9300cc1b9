import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'

const FILE = Buffer.from('0123456789')
let sandbox: Sandbox
let path: string
beforeAll(async () => {
  sandbox = await createSandbox()
  path = (await sandbox.control.addMedia({ base64: FILE.toString('base64') })).url
})
afterAll(() => sandbox[Symbol.asyncDispose]())

/** Status, the headers that matter, and the body. */
async function media(headers: Record<string, string>, o: { method?: string; of?: string } = {}) {
  const { method = 'GET', of = path } = o
  const answer = await new Promise<Awaited<ReturnType<typeof read>>>((resolve, reject) => {
    request(sandbox.url + of, { method, headers })
      .on('response', (response) => void read(response).then(resolve, reject))
      .on('error', reject)
      .end()
  })
  return answer
}

async function read(response: import('node:http').IncomingMessage) {
  const { statusCode: status, headers } = response
  const body = (await buffer(response)).toString()
  const { 'content-range': range, 'content-length': length, 'accept-ranges': accepts } = headers
  return { status, range, length, accepts, body }
}

test.each([
  ['bytes=0-3', 'bytes 0-3/10', '0123'],
  ['bytes=4-4', 'bytes 4-4/10', '4'],
  ['bytes=7-', 'bytes 7-9/10', '789'],
  ['bytes=8-100', 'bytes 8-9/10', '89'],
  ['bytes=-3', 'bytes 7-9/10', '789'],
  ['bytes=-100', 'bytes 0-9/10', '0123456789'],
  ['BYTES=0-0', 'bytes 0-0/10', '0'],
])('%s is answered with 206 and that part', async (range, part, body) => {
  expect(await media({ range })).toEqual({
    status: 206,
    range: part,
    length: String(body.length),
    accepts: 'bytes',
    body,
  })
})

test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-'])(
  '%s is beyond the file and answered with 416',
  async (range) => {
    expect(await media({ range })).toMatchObject({ status: 416, range: 'bytes */10', body: '' })
  },
)

test.each(['bytes=0-1,4-5', 'bytes=5-2', 'bytes=', 'bytes=a-b', 'chars=0-1', 'bytes=-', ''])(
  '%s is answered with the whole file',
  async (range) => {
    expect(await media({ range })).toMatchObject({
      status: 200,
      range: undefined,
      length: '10',
      body: '0123456789',
    })
  },
)

test('without a range, or with one for a version of the file, it is whole', async () => {
  const whole = { status: 200, accepts: 'bytes', length: '10', body: '0123456789' }
  expect(await media({})).toMatchObject(whole)
  expect(await media({ range: 'bytes=0-3', 'if-range': '"a"' })).toMatchObject(whole)
})

test('HEAD gives the headers of a GET without a range, and no body', async () => {
  const head = { status: 200, accepts: 'bytes', length: '10', range: undefined, body: '' }
  expect(await media({}, { method: 'HEAD' })).toEqual(head)
  expect(await media({ range: 'bytes=0-3' }, { method: 'HEAD' })).toEqual(head)
})

test('a file that is not there is 404 for both, with and without a range', async () => {
  for (const method of ['GET', 'HEAD']) {
    const missing = await media({ range: 'bytes=0-3' }, { method, of: '/media/nothing' })
    expect([missing.status, missing.range]).toEqual([404, undefined])
  }
})

test('an empty file has no part', async () => {
  const { url } = await sandbox.control.addMedia({ base64: '' })
  expect(await media({}, { of: url })).toMatchObject({ status: 200, length: '0', body: '' })
  for (const range of ['bytes=0-0', 'bytes=-1']) {
    expect(await media({ range }, { of: url })).toMatchObject({ status: 416, range: 'bytes */0' })
  }
})
