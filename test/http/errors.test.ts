import { expect, it } from 'vitest'
import { answerFor, failureAnswer, isUnforeseen, traceOf } from '../../src/http/error-handler.ts'
import { NoResponseError, OperatorError, Refusal, ServiceError } from '../../src/errors.ts'
import { REFUSALS } from '../../src/refusals.ts'
import type { OwnCode } from '../../src/errors.ts'
import { call, openDoor } from './support.ts'

const read = (error: unknown) => {
  const { status, headers, body, code } = answerFor(error)
  return { status, headers, code, envelope: JSON.parse(body.toString()) as Record<string, unknown> }
}

it.each(Object.keys(REFUSALS) as OwnCode[])(
  'the refusal %s becomes its status, and its message with detail and hint',
  (code) => {
    const { status, envelope } = read(new Refusal(code, 'in detail'))
    const known = REFUSALS[code]
    const { what, hint } = known
    const again = 'retryAfter' in known ? { retryAfter: known.retryAfter } : {}
    const message = `${what}: in detail; ${hint}`
    expect(envelope).toEqual({ ok: false, error: { status, code, message, ...again } })
    expect(status).toBe(REFUSALS[code].status)
  },
)

it('a refusal with a code of the service keeps its message and extra fields', () => {
  const refusal = new Refusal('wrong_body_kind', 'send text', { extra: { expected: 'text' } })
  expect(read(refusal)).toMatchObject({
    status: 400,
    envelope: { error: { code: 'wrong_body_kind', message: 'send text', expected: 'text' } },
  })
})

it('a refusal with `retryAfter` has a Retry-After header, rounded up', () => {
  const { headers, envelope } = read(
    new Refusal('postern_busy', '', { extra: { retryAfter: 1.2 } }),
  )
  expect(headers['retry-after']).toBe('2')
  expect(envelope).toMatchObject({ error: { retryAfter: 1.2 } })
  expect(read(new Refusal('postern_busy')).headers).not.toHaveProperty('retry-after')
})

it('a `NoResponseError` becomes 502 with its code', () => {
  expect(read(new NoResponseError('postern_upstream_unreachable', 'refused'))).toMatchObject({
    status: 502,
    code: 'postern_upstream_unreachable',
  })
})

it('a `ServiceError` becomes the service’s answer byte for byte', () => {
  const answer = {
    status: 429,
    headers: { 'retry-after': '9' },
    body: Buffer.from('{ "ok":false}'),
  }
  const error = new ServiceError({ code: 'flood_wait', status: 429, answer })
  expect(answerFor(error)).toEqual({ ...answer, code: 'flood_wait' })
})

it.each([new Error('canary'), new TypeError('canary'), 'canary', undefined, { code: 'canary' }])(
  'an unexpected error becomes 500 `internal` without its text: %s',
  (error) => {
    const { status, envelope } = read(error)
    expect(status).toBe(500)
    expect(envelope).toEqual({
      ok: false,
      error: { status: 500, code: 'internal', message: 'the sidecar failed' },
    })
    expect(isUnforeseen(error)).toBe(true)
  },
)

it.each([
  ['BODY_TOO_LARGE', 413, 'too_large', 'the body is too large'],
  ['INVALID_CONTENT_LENGTH', 400, 'bad_request', 'Content-Length: is not the length of the body'],
])('the fastify error %s becomes a refusal without its text', (name, status, code, message) => {
  const error = Object.assign(new Error('canary'), { code: `FST_ERR_CTP_${name}` })
  expect(read(error).envelope).toEqual({ ok: false, error: { status, code, message } })
  expect(isUnforeseen(error)).toBe(false)
})

it('a corrupt store becomes `postern_store_unwritable`, and another operator error `internal`', () => {
  const damaged = read(new OperatorError('store-corrupt', 'it is'))
  expect([damaged.status, damaged.code]).toEqual([503, 'postern_store_unwritable'])
  expect(damaged.envelope).toMatchObject({
    error: { message: expect.stringContaining('it is damaged') as unknown },
  })
  expect(read(new OperatorError('store-locked', 'it is')).code).toBe('internal')
})

it('`traceOf` has the kind and the frames of an error, not its message', () => {
  const trace = traceOf(new RangeError('canary\nwith lines'))
  expect(trace.error).toBe('RangeError')
  expect(trace.at.join()).toContain('errors.test.ts')
  expect(JSON.stringify(trace)).not.toContain('canary')
  expect(trace.at.every((frame) => frame.startsWith('at '))).toBe(true)
  const deep = Object.assign(new Error('canary'), { stack: `x at y\n${'   at z\n'.repeat(9)}` })
  expect(traceOf(deep).at).toEqual(Array.from({ length: 8 }, () => 'at z'))
  expect(traceOf(Object.assign(new Error('canary'), { stack: undefined })).at).toEqual([])
  expect(traceOf('canary')).toEqual({ error: 'string', at: [] })
})

it('`failureAnswer` writes status, code and message in this order', () => {
  const { body, ...rest } = failureAnswer({ status: 400, code: 'bad_request', message: 'm' })
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  expect(rest).toEqual({ status: 400, code: 'bad_request', headers })
  expect(body.toString()).toBe(
    '{"ok":false,"error":{"status":400,"code":"bad_request","message":"m"}}',
  )
})

it('a route that fails unexpectedly is answered 500, and the log has the error without its text', async () => {
  const world = await openDoor({
    parts: {
      routes: [
        (app) =>
          void app.get('/me', () => {
            throw new Error('canary words')
          }),
      ],
    },
  })
  const { status, text } = await call(world, 'GET', '/bot/v1/me')
  expect(status).toBe(500)
  expect(text).not.toContain('canary')
  expect(JSON.stringify(world.lines)).not.toContain('canary')
  const failed = world.lines.find(({ level }) => level === 50)
  expect(failed).toMatchObject({ error: 'Error', msg: 'a call failed unexpectedly' })
})

it('an answer that cannot be serialized becomes 500, and the next call is served', async () => {
  const world = await openDoor({
    parts: {
      routes: [
        (app) => void app.get('/me', () => ({ ok: true, result: 10n })),
        (app) =>
          void app.get('/chats/:chatId', (_r, reply) => reply.header('x-a', 'a\nb').send({})),
      ],
    },
  })
  expect((await call(world, 'GET', '/bot/v1/me')).status).toBe(500)
  expect((await call(world, 'GET', '/bot/v1/chats/5')).status).toBe(500)
  expect((await call(world, 'GET', '/bot/v1/commands')).status).toBe(200)
})
