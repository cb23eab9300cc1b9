/**
 * Loaded into a sidecar before anything else (`node --import`): writes down what its loop works
 * between each request that says so and the answer to it, for that request and for all others. Unlike
 * the time that passes, this is not what other processes do to the machine.
 */
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'

/** The user agent of requests that are written down. */
export const WATCHED = 'postern-bench-watched'

const file = process.env['LOOP_TIMES'] ?? ''
const begun = new WeakMap<IncomingMessage, number>()

const loopMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

if (file !== '') {
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: IncomingMessage }
    if (request.headers['user-agent'] === WATCHED) begun.set(request, loopMs())
  })
  subscribe('http.server.response.finish', (message) => {
    const { request } = message as { request: IncomingMessage }
    const since = begun.get(request)
    if (since !== undefined) appendFileSync(file, `${loopMs() - since}\n`)
  })
}
