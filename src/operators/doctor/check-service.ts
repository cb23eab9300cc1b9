/** Checks the service: whether it answers, accepts the token and agrees on the time. */
import type { Bot } from '../../api/bot.ts'
import type { Limits } from '../../api/limits.ts'
import { describeSkew, Refusal, ServiceError } from '../../errors.ts'
import { SKEW_MAX_MS } from '../../kernel/index.ts'
import { capacity } from '../../openpgp/index.ts'
import { fail, pass, warn, type CheckLine } from './check-line.ts'

export interface ServiceParts {
  /** Asks `GET /me` now. */
  me: () => Promise<Bot>
  limits: () => Limits
  /** How far our clock is ahead of the service's; null while that is not known. */
  skewMs: () => number | null
  upstreamUrl: string
  /** Whether calls go through a proxy. */
  isProxied: boolean
  /** Setting `key.publish`. */
  managesKey: boolean
}

const SKEW_NOTABLE_MS = 5000
/** Bytes of one recipient packet, by cipher of the session key (RFC 9580, 5.1). */
const KINDS = [
  { name: 'Curve25519', each: { aes256: 96, aes128: 80 } },
  { name: 'NIST P-256', each: { aes256: 128, aes128: 112 } },
  { name: 'RSA 2048', each: { aes256: 271, aes128: 271 } },
  { name: 'RSA 3072', each: { aes256: 399, aes128: 399 } },
  { name: 'RSA 4096', each: { aes256: 527, aes128: 527 } },
  { name: 'ML-KEM-768+X25519', each: { aes256: 1175, aes128: 1159 } },
]
const TYPICAL_TEXT_BYTES = 500
/** Greatest number of UTF-8 bytes for one UTF-16 unit of a text. */
const UNIT_BYTES = 3

/** Asks once. @returns the bot, null when it could not be had, and the lines */
export async function checkService(parts: ServiceParts) {
  let bot: Bot
  try {
    bot = await parts.me()
  } catch (error) {
    return { bot: null, lines: linesOfFailure(error, parts) }
  }
  const lines = [
    pass('upstream', `${parts.upstreamUrl} answers`),
    pass('token', `bot ${bot.id}`),
    pausedLine(bot),
    clockLine(parts.skewMs()),
    webhookLine(bot, parts),
    pass('limits', limitsOf(parts.limits())),
    pass('capacity', capacityOf(parts.limits())),
  ]
  return { bot, lines }
}

function linesOfFailure(error: unknown, parts: ServiceParts): CheckLine[] {
  const url = parts.upstreamUrl
  if (error instanceof ServiceError) {
    const token =
      error.status === 401
        ? fail('token', 'the service refuses it', 'give the token from the bot console')
        : fail('token', `the service says ${error.code}`, 'try again later')
    return [pass('upstream', `${url} answers`), token]
  }
  if (error instanceof Refusal) return [noResponse(error, parts)]
  return [fail('upstream', `${url}: no usable answer`, 'check upstream.url')]
}

/** No usable answer: its cause, and the part to check. */
function noResponse(error: Refusal, { upstreamUrl: url, isProxied }: ServiceParts): CheckLine {
  const { detail } = error
  const { host, hostname } = new URL(url)
  if (error.code === 'postern_upstream_invalid') {
    return fail(
      'service',
      `what answers at ${url} is not the service (${detail})`,
      'check host, port and path of upstream.url, which ends in front of /bot/v1, and that no proxy or login page answers in its place',
    )
  }
  if (detail === 'ENOTFOUND' || detail === 'EAI_AGAIN') {
    const name = isProxied ? 'the proxy’s name' : `the name ${hostname}`
    return fail(
      'dns',
      `${name} does not resolve (${detail})`,
      isProxied
        ? 'check HTTPS_PROXY and HTTP_PROXY'
        : `check how upstream.url is spelled, and that this machine’s resolver knows the name: getent hosts ${hostname}`,
    )
  }
  if (detail === 'ECONNREFUSED') {
    const message = `nothing listens at ${isProxied ? 'the proxy’s address' : host} (${detail})`
    return fail('upstream', message, 'check host and port, and that it runs')
  }
  return fail('upstream', `${url}: ${error.message}`, error.hint ?? 'try again later')
}

const pausedLine = (bot: Bot): CheckLine =>
  bot.status == null || bot.status === 'active'
    ? pass('status', 'the bot is active')
    : fail('status', `the bot is ${bot.status}`, 'its owner resumes it in the bot console')

function clockLine(skewMs: number | null): CheckLine {
  if (skewMs === null)
    return warn('clock', 'the service does not tell its time', 'keep NTP running')
  const message = describeSkew(skewMs)
  if (Math.abs(skewMs) > SKEW_MAX_MS) {
    return fail('clock', message, 'set this machine’s clock; no key is made until they agree')
  }
  return Math.abs(skewMs) > SKEW_NOTABLE_MS
    ? warn('clock', message, 'set this machine’s clock')
    : pass('clock', 'agrees with the service’s')
}

function webhookLine(bot: Bot, { managesKey }: ServiceParts): CheckLine {
  if (bot.webhook?.url == null) return pass('webhook', 'none is set at the service')
  return managesKey
    ? warn(
        'webhook',
        'one is set at the service, which delivers sealed updates to it',
        'let the bot set it again through Postern, which then delivers opened ones',
      )
    : pass('webhook', 'the service delivers to one itself')
}

const limitsOf = ({ textMax, armoredMax, apiCallsPerMinute }: Limits): string =>
  `texts of ${textMax} characters, sealed ones of ${armoredMax}, ${apiCallsPerMinute} calls a minute`

/** People beside the bot, whose own recipient packet is counted in. */
function capacityOf({ armoredMax, textMax }: Limits): string {
  const longest = textMax * UNIT_BYTES
  const rooms = (textBytes: number): number[] =>
    KINDS.map(({ each }) => capacity(each, textBytes, armoredMax))
  const typical = rooms(TYPICAL_TEXT_BYTES).map((count, index) => {
    return index === 0
      ? `${count} people with ${KINDS[index]?.name} keys`
      : `${count} with ${KINDS[index]?.name}`
  })
  return `a text of ${TYPICAL_TEXT_BYTES} bytes fits for ${listed(typical)}; the longest, of ${longest} bytes, for ${listed(rooms(longest))}`
}

const listed = (items: readonly (string | number)[]): string =>
  `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`
