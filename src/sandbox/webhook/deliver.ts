import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Update } from '../../api/updates.ts'
import { deadline, raceAbort } from '../../util/race-abort.ts'
import type { WebhookState } from '../state.ts'
import type { World } from '../world.ts'
import { addressesOf } from './url.ts'

const USER_AGENT = 'Service-Bot-Api/1'
const SECRET_HEADER = 'X-Service-Bot-Api-Secret-Token'

/**
 * POSTs one update (spec, Events 4). Gives null after a 2xx within 10 seconds of the
 * sandbox's clock, else the error. Redirects are not followed. The host is resolved anew and its
 * address pinned, so that a host that was accepted cannot turn private later.
 */
export async function deliverUpdate(
  world: World,
  { webhook, update, stop }: { webhook: WebhookState; update: Update; stop: AbortSignal },
): Promise<string | null> {
  const { webhookAnswerMs } = world.limits.values
  using timeout = deadline(async (over) => void (await world.clock.wait(webhookAnswerMs, over)))
  const signal = AbortSignal.any([timeout.signal, stop])
  const attempt = async (): Promise<string | null> => {
    const [address] = (await addressesOf(world, webhook.url)) ?? []
    if (address === undefined) return 'the url does not resolve to a public address'
    const status = await postUpdate(world, { webhook, update, address, signal })
    if (status >= 300 && status < 400) return `the receiver redirected (${status})`
    return status >= 200 && status < 300 ? null : `the receiver answered ${status}`
  }
  try {
    return await raceAbort(attempt(), signal)
  } catch {
    const isLate = timeout.signal.aborted
    return isLate ? `no answer within ${webhookAnswerMs / 1000} seconds` : 'the connection failed'
  }
}

async function postUpdate(
  world: World,
  o: { webhook: WebhookState; update: Update; address: string; signal: AbortSignal },
): Promise<number> {
  const { webhook, address, signal } = o
  const url = new URL(webhook.url)
  const body = JSON.stringify(o.update)
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': USER_AGENT,
    ...(webhook.secret === null ? {} : { [SECRET_HEADER]: webhook.secret }),
  }
  const record = world.transcript.open({
    at: world.clock.now(),
    by: 'webhook',
    method: 'POST',
    path: webhook.url,
    headers: Object.entries(headers).flat(),
  })
  record.received(body)
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  const how = { method: 'POST', headers, signal, agent: false, lookup: pinnedLookup(address) }
  const sent = request(url, how).on('error', () => undefined)
  const [response] = (await once(sent.end(body), 'response')) as [IncomingMessage]
  response.on('error', () => undefined).destroy()
  record.answered(response.statusCode ?? 0, '')
  return response.statusCode ?? 0
}

/** A DNS lookup that always gives this address. */
function pinnedLookup(address: string): LookupFunction {
  const family = isIP(address)
  return (_host, options, callback) => {
    if (options.all === true) callback(null, [{ address, family }])
    else callback(null, address, family)
  }
}
