/** Answers that are handed on, to a caller that a test plays. */
import { EventEmitter } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { isGone, relay, relayGet, relayView, whileConnected } from '../../src/http/relay.ts'
import { unobserved } from '../../src/kernel/index.ts'
import type { UpstreamRequest } from '../../src/upstream/client.ts'
import { no, yes } from './played-route.ts'

/** A reply with what was written to its response. */
function playedReply(o: { headersSent?: boolean; destroyed?: boolean; closed?: boolean } = {}) {
  const written: unknown[] = []
  const raw = Object.assign(new EventEmitter(), {
    headersSent: false,
    destroyed: false,
    closed: false,
    writableFinished: false,
    writeHead: (...head: unknown[]) => written.push(head),
    end: (body: unknown) => written.push(body),
    ...o,
  })
  const request = { failedWith: undefined as string | undefined }
  const reply = { raw, request, isHijacked: false, hijack: () => (reply.isHijacked = true) }
  return { reply, raw, written, request, asReply: reply as unknown as FastifyReply }
}

describe('an answer', () => {
  test('is written at once, with its length, and for no cache', () => {
    const { asReply, reply, written, request } = playedReply()
    const body = Buffer.from('{"é":1}')
    const headers = { 'cache-control': 'public', 'x-kept': 'yes' }
    relay(asReply, { status: 201, headers, body })
    const head = { 'cache-control': 'no-store', 'x-kept': 'yes', 'content-length': 8 }
    expect(written).toEqual([[201, head], '{"é":1}'])
    expect([reply.isHijacked, request.failedWith]).toEqual([true, undefined])
  })

  test.each([
    [16_384, 'string'],
    [16_385, 'object'],
  ])('of %i bytes is written as %s', (length, type) => {
    const { asReply, written } = playedReply()
    const body = Buffer.alloc(length, 'x')
    relay(asReply, { status: 200, headers: {}, body })
    expect(typeof written[1]).toBe(type)
    expect(Buffer.from(written[1] as string)).toEqual(body)
  })

  test.each([
    ['a success', yes({}), undefined],
    ['a refusal of the service', no(404, 'chat_not_found'), 'chat_not_found'],
    ['a refusal of ours', { ...yes({}), code: 'postern_busy' }, 'postern_busy'],
  ])('that is %s has its code in the log', (_what, answer, code) => {
    const { asReply, request } = playedReply()
    relay(asReply, answer)
    expect(request.failedWith).toBe(code)
  })

  test('is not written after another one', () => {
    const { asReply, reply, written } = playedReply({ headersSent: true })
    expect(relay(asReply, yes({}))).toBe(asReply)
    expect([written, reply.isHijacked]).toEqual([[], false])
  })
})

describe('a caller', () => {
  test.each([
    [{}, false],
    [{ destroyed: true }, true],
    [{ closed: true }, true],
  ])('with a response that is %j is gone: %s', (o, gone) => {
    const { asReply } = playedReply(o)
    expect([isGone(asReply), whileConnected(asReply).aborted]).toEqual([gone, gone])
  })

  test('that hangs up before its answer is out ends the call, and none after it', () => {
    for (const writableFinished of [false, true]) {
      const { asReply, raw } = playedReply()
      const signal = whileConnected(asReply)
      expect(signal.aborted).toBe(false)
      raw.writableFinished = writableFinished
      raw.emit('close')
      expect(signal.aborted).toBe(!writableFinished)
    }
  })
})

describe('a GET', () => {
  function scene(answer = yes({ a: 1 })) {
    const asked: UpstreamRequest[] = []
    const { asReply, raw, written } = playedReply()
    const upstream = { relay: async (one: UpstreamRequest) => (asked.push(one), answer) }
    const request = { raw: { url: '/bot/v1/me?a=1?' } } as FastifyRequest
    return { asked, upstream: upstream as never, call: [request, asReply] as const, raw, written }
  }

  test('is passed on with its query, and ends with its caller', async () => {
    const { asked, upstream, call, raw } = scene()
    await relayGet(upstream, '/me', [...call])
    expect(asked).toMatchObject([{ method: 'GET', path: '/me?a=1?' }])
    raw.emit('close')
    expect((asked[0] as { signal?: AbortSignal } | undefined)?.signal?.aborted).toBe(true)
  })

  test.each([
    [
      'another view',
      (result: unknown) => ({ seen: result }),
      '{"ok":true,"result":{"seen":{"a":1}}}',
    ],
    ['no view', () => null, yes({ a: 1 }).body.toString()],
  ])('with %s of its result is answered so', async (_what, view, text) => {
    const { upstream, call, written } = scene()
    await relayView(upstream, '/me', [...call], async (unseen) => view(unobserved(unseen)))
    expect(written[1]).toBe(text)
  })

  test('that is refused has no view', async () => {
    const { upstream, call, written } = scene(no(404, 'x'))
    await relayView(upstream, '/me', [...call], () => expect.unreachable())
    expect(written[1]).toBe(no(404, 'x').body.toString())
  })
})
