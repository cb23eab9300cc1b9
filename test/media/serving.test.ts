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

test('a sealed picture comes out as it went in, with its own type and length', async () => {
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
  'a file of %i bytes comes out as it went in',
  async (length) => {
    const content = randomBytes(length)
    const { status, headers, body } = await fetched(stage, await sent(content))
    expect(status).toBe(200)
    expect(body.equals(content)).toBe(true)
    expect(headers.get('content-length')).toBe(String(length))
  },
)

test('no browser runs, keeps or shows it', async () => {
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

test.each([
  ['HTML', '<!DOCTYPE html><script>alert(1)</script>'],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['XML', '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'],
  ['words', 'hello'],
])('%s is bytes and nothing else', async (_, content) => {
  const { headers, body } = await fetched(stage, await sent(Buffer.from(content)))
  expect(body.toString()).toBe(content)
  expect(headers.get('content-type')).toBe('application/octet-stream')
})

test('HEAD says all that GET says, and gives nothing', async () => {
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

test('the same file is fetched from the service once, however many ask at once', async () => {
  const url = await sent(picture())
  const mark = stage.double.mark()
  const all = await Promise.all(Array.from({ length: 12 }, () => fetched(stage, url)))
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
  expect(stage.double.calls('GET', /^\/media\//, mark)).toHaveLength(1)
  await fetched(stage, url)
  expect(stage.double.calls('GET', /^\/media\//, mark)).toHaveLength(1)
})

test('the service never sees the token with it, nor who asks', async () => {
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

test('nothing of a file is ever in a log, or readable on the disk', async () => {
  const words = `canary-${randomBytes(12).toString('hex')}`
  const { body } = await fetched(stage, await sent(Buffer.from(words.repeat(50))))
  expect(body.toString()).toContain(words)
  stage.expectNowhere(words)
})
