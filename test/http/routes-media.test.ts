/** The route of attachments, over attachments that are played. */
import { fastify } from 'fastify'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { mediaRoute } from '../../src/http/routes/media.ts'
import type { Attachments } from '../../src/translate/attachments.ts'

const BYTES = Buffer.from('0123456789')
const ID = 'm'.repeat(22)

/** A door with one attachment: by its url `?c=right`, and by its id for whoever has the token. */
function door(found: { verdict?: string | null; signer?: string; signedAtMs?: number } = {}) {
  let released = 0
  let hasToken = false
  const handle = {
    value: {
      file: { bytes: 10, read: (start: number, end: number) => [BYTES.subarray(start, end)] },
      contentType: 'image/png',
      tag: 'tag',
      verdict: null,
      ...found,
    },
    release: () => void (released += 1),
  }
  const attachments = {
    byUrl: (_id: string, query: string) => Promise.resolve(query === 'c=right' ? handle : null),
    named: () => Promise.resolve(handle),
  } as unknown as Attachments
  const app = fastify()
  app.setErrorHandler((error, _request, reply) =>
    reply.code(400).send({ code: (error as Refusal).code }),
  )
  mediaRoute(attachments)(app, {
    stopping: new AbortController().signal,
    admit: () => Promise.resolve(),
    authorize: () => {
      if (!hasToken) throw new Refusal('unauthorized')
    },
  })
  return {
    app,
    released: () => released,
    giveToken: () => void (hasToken = true),
    get: (path: string, headers = {}) => app.inject({ url: path, headers }),
  }
}

describe('an attachment', () => {
  test('is served whole to its url, with what was found out about it, and given back', async () => {
    const { get, released } = door({ verdict: 'verified', signer: 'ab', signedAtMs: 5 })
    const answer = await get(`/media/${ID}?c=right`)
    expect([answer.statusCode, answer.body, released()]).toEqual([200, '0123456789', 1])
    expect(answer.headers).toMatchObject({
      'postern-verdict': 'verified',
      'postern-signer': 'ab',
      'postern-signed-at': '5',
      'content-length': '10',
      'content-type': 'image/png',
      'content-disposition': 'attachment',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'accept-ranges': 'bytes',
      etag: '"tag"',
    })
    expect(answer.headers['content-range']).toBeUndefined()
  })

  test('of which nothing was found out has no headers about that', async () => {
    const { headers } = await door().get(`/media/${ID}?c=right`)
    expect(Object.keys(headers).filter((name) => name.startsWith('postern-'))).toEqual([])
  })

  test('is served in part, and refused beyond its end', async () => {
    const { get, app } = door()
    const part = await get(`/media/${ID}?c=right`, { range: 'bytes=2-4' })
    expect([part.statusCode, part.body]).toEqual([206, '234'])
    expect(part.headers).toMatchObject({ 'content-range': 'bytes 2-4/10', 'content-length': '3' })
    const beyond = await get(`/media/${ID}?c=right`, { range: 'bytes=10-' })
    expect([beyond.statusCode, beyond.headers['content-range']]).toEqual([416, 'bytes */10'])
    expect(beyond.json()).toMatchObject({
      error: { code: 'bad_request', message: 'Range: the file has 10 bytes' },
    })
    const other = { range: 'bytes=2-4', 'if-range': '"other"' }
    expect((await get(`/media/${ID}?c=right`, other)).statusCode).toBe(200)
    const head = await app.inject({
      method: 'HEAD',
      url: `/media/${ID}?c=right`,
      headers: { range: 'bytes=2-4' },
    })
    expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', '10'])
  })

  test('needs its url, or the token and an id', async () => {
    const { get, giveToken, released } = door()
    const code = async (path: string) => (await get(path)).json<{ code?: string }>().code
    expect(await code(`/media/${ID}?c=wrong`)).toBe('unauthorized')
    expect(await code('/media/no!id?c=right')).toBe('unauthorized')
    expect(released()).toBe(0)
    giveToken()
    expect(await code('/media/no!id')).toBe('media_not_found')
    expect((await get(`/media/${ID}`)).body).toBe('0123456789')
  })
})
