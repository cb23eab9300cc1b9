import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { fetched, named, picture, sealedBy } from './support.ts'

const stage = useStage()

/** A file that a person sealed and sent in a private chat; gives its url. */
async function sent(content: Buffer): Promise<string> {
  const from = await stage.friend()
  const sealed = await sealedBy(from, stage, content)
  return await named(stage, sealed, { chat: stage.privateChat(from), from })
}

test('a sealed picture is served decrypted, with type, length, verdict, signer and date', async () => {
  const content = picture()
  const { status, headers, body } = await fetched(stage, await sent(content))
  expect(status).toBe(200)
  expect(body).toEqual(content)
  expect(headers.get('content-type')).toBe('image/png')
  expect(headers.get('content-length')).toBe(String(content.length))
  expect(headers.get('postern-verdict')).toBe('verified')
  const signedAtMs = Number(headers.get('postern-signed-at'))
  expect(Math.abs(Date.now() - signedAtMs)).toBeLessThan(120_000)
  expect(headers.get('postern-signer')).toBe((await stage.friend()).phone.fingerprint)
})

test.each([0, 1, 191, 192, 8383, 8384, 65_536, 300_001])(
  'a file of %i bytes is served as it was sealed',
  async (length) => {
    const content = randomBytes(length)
    const { status, headers, body } = await fetched(stage, await sent(content))
    expect(status).toBe(200)
    expect(body.equals(content)).toBe(true)
    expect(headers.get('content-length')).toBe(String(length))
  },
)

test('a served file has headers that forbid browsers to run, cache or show it', async () => {
  const { headers } = await fetched(stage, await sent(picture()))
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-content-type-options': 'nosniff',
    'content-disposition': 'attachment',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, no-store',
  })
  expect(headers.get('access-control-allow-origin')).toBeNull()
})

test('a `HEAD` request for a file has the headers of a `GET` request and no body', async () => {
  const url = await sent(picture())
  const head = await fetched(stage, url, { method: 'HEAD' })
  const get = await fetched(stage, url)
  expect(head.status).toBe(200)
  expect(head.body).toHaveLength(0)
  const comparable = ({ headers }: typeof get): object => {
    const connection = new Set(['date', 'connection', 'keep-alive'])
    return Object.fromEntries([...headers].filter(([name]) => !connection.has(name)))
  }
  expect(comparable(head)).toEqual(comparable(get))
})

test('a file with twelve callers at once is fetched from the service once', async () => {
  const url = await sent(picture())
  const mark = stage.double.mark()
  const all = await Promise.all(Array.from({ length: 12 }, () => fetched(stage, url)))
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
  expect(stage.double.calls('GET', /^\/media\//, mark)).toHaveLength(1)
  await fetched(stage, url)
  expect(stage.double.calls('GET', /^\/media\//, mark)).toHaveLength(1)
})

test('a file request to the service has no token and no header of the caller', async () => {
  const url = await sent(picture())
  const mark = stage.double.mark()
  await fetched(stage, url, { headers: { cookie: 'a=b', 'x-secret': 'c', accept: 'image/png' } })
  const [call] = stage.double.calls('GET', /^\/media\//, mark)
  expect(call?.query).toBe('')
  expect(Object.keys(call?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ])
})

test('the content of a served file is in no log and unencrypted nowhere on the disk', async () => {
  const words = `canary-${randomBytes(12).toString('hex')}`
  const { body } = await fetched(stage, await sent(Buffer.from(words.repeat(50))))
  expect(body.toString()).toContain(words)
  stage.expectNowhere(words)
})
