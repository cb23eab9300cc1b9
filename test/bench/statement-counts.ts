/**
 * Loaded into a sidecar before anything else (`node --import`): writes down how many statements SQLite
 * runs between each watched request and the answer to it (`WATCHED` in `loop-times.ts`).
 */
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { StatementSync } from 'node:sqlite'
import { WATCHED } from './loop-times.ts'

const file = process.env['STATEMENT_COUNTS'] ?? ''
const begun = new WeakMap<IncomingMessage, number>()
let count = 0

for (const name of ['all', 'get', 'run', 'iterate'] as const) {
  const original = StatementSync.prototype[name] as (...parameters: unknown[]) => unknown
  const counted = function (this: StatementSync, ...parameters: unknown[]): unknown {
    count++
    return Reflect.apply(original, this, parameters)
  }
  Object.assign(StatementSync.prototype, { [name]: counted })
}

if (file !== '') {
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: IncomingMessage }
    if (request.headers['user-agent'] === WATCHED) begun.set(request, count)
  })
  subscribe('http.server.response.finish', (message) => {
    const { request } = message as { request: IncomingMessage }
    const since = begun.get(request)
    if (since !== undefined) appendFileSync(file, `${count - since}\n`)
  })
}
