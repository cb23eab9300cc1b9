/** One route over a service whose answers a test gives. */
import { fastify } from 'fastify'
import { onTestFinished } from 'vitest'
import { answerFor } from '../../src/http/error-handler.ts'
import { relay } from '../../src/http/relay.ts'
import type { DoorRoute } from '../../src/http/server.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import type { Answer, Upstream, UpstreamRequest } from '../../src/upstream/client.ts'

/** An answer with a result, written with a space that no view would write. */
export const yes = (result: unknown): Answer => ({
  status: 200,
  headers: { 'x-kept': 'yes' },
  body: Buffer.from(`{"ok":true, "result":${JSON.stringify(result)}}`),
  envelope: { ok: true, result: new Unseen(result) },
})

/** A refusal of the service. */
export const no = (status: number, code: string): Answer => ({
  status,
  headers: {},
  body: Buffer.from(`{"ok":false, "error":{"code":"${code}"}}`),
  envelope: { ok: false, error: { status, code, message: '' } },
})

/** An upstream that gives one answer, and what it was asked for. */
export function playedUpstream(answer: Answer) {
  const asked: string[] = []
  const relayed = async ({ method, path }: UpstreamRequest): Promise<Answer> => {
    asked.push(`${method} ${path}`)
    return answer
  }
  return { asked, upstream: { relay: relayed } as unknown as Upstream }
}

/** Calls a route as the door's app has it. */
export function playedRoute(route: DoorRoute) {
  const app = fastify()
  onTestFinished(() => app.close())
  app.decorateRequest('client', null)
  app.setErrorHandler((error, _request, reply) => relay(reply, answerFor(error)))
  route(app, {
    stopping: new AbortController().signal,
    authorize: () => {},
    admit: () => Promise.resolve(),
  })
  return async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: object) => {
    const answer = await app.inject({ method, url, ...(body && { payload: body }) })
    const { error, result } = answer.json<{ result?: unknown; error?: Record<string, unknown> }>()
    return { status: answer.statusCode, text: answer.body, code: error?.['code'], error, result }
  }
}
