/** The doctor: one line a matter, with what to do (DESIGN: How it is run). */
import type { Bot } from '../api/bot.ts'
import type { Limits } from '../api/limits.ts'
import { Refusal, ServiceSaid } from '../errors.ts'
import { capacity } from '../pgp/size.ts'

/** A line, as `postern check` prints it. */
export interface Finding {
  name: string
  level: 'pass' | 'warn' | 'fail'
  message: string
  hint?: string
}

export interface CheckParts {
  /** Asks `GET /me` now. */
  me: () => Promise<Bot>
  limits: () => Limits
  skewMs: () => number | null
  upstreamUrl: string
  /** Our keys; null when there is no store yet. */
  keys: { active: string | null; pending: string | null; all: readonly string[] } | null
  /** Setting `key.publish`. */
  managesKey: boolean
}

const SKEW_MAX_MS = 120_000
const SKEW_NOTABLE_MS = 5000
/** Octets of one recipient packet, by cipher of the session key (RFC 9580, 5.1). */
const KINDS = [
  { name: 'Curve25519', each: { aes256: 96, aes128: 80 } },
  { name: 'NIST P-256', each: { aes256: 128, aes128: 112 } },
  { name: 'RSA 2048', each: { aes256: 271, aes128: 271 } },
  { name: 'RSA 4096', each: { aes256: 527, aes128: 527 } },
]
const TYPICAL_TEXT_BYTES = 500

/** Looks at everything once; never throws for what it finds. */
export async function checkAll(parts: CheckParts): Promise<Finding[]> {
  const store: Finding =
    parts.keys === null
      ? pass('store', 'there is none yet; postern run makes one')
      : pass('store', `opens, with ${parts.keys.all.length} of our keys`)
  let bot: Bot
  try {
    bot = await parts.me()
  } catch (error) {
    return [store, ...unanswered(error, parts.upstreamUrl)]
  }
  return [
    store,
    pass('upstream', `${parts.upstreamUrl} answers`),
    pass('token', `bot ${bot.id}`),
    pausedLine(bot),
    clockLine(parts.skewMs()),
    keyLine(bot, parts),
    webhookLine(bot, parts),
    pass('capacity', capacityOf(parts.limits())),
  ]
}

function unanswered(error: unknown, url: string): Finding[] {
  if (error instanceof ServiceSaid) {
    const reached = pass('upstream', `${url} answers`)
    return error.status === 401
      ? [reached, fail('token', 'the service refuses it', 'give the token from the bot console')]
      : [reached, fail('token', `the service says ${error.code}`, 'try again later')]
  }
  if (error instanceof Refusal) {
    return [fail('upstream', `${url}: ${error.message}`, error.hint ?? 'try again later')]
  }
  return [fail('upstream', `${url}: no usable answer`, 'check upstream.url')]
}

function pausedLine(bot: Bot): Finding {
  return bot.status == null || bot.status === 'active'
    ? pass('status', 'the bot is active')
    : fail('status', `the bot is ${bot.status}`, 'its owner resumes it in the bot console')
}

function clockLine(skewMs: number | null): Finding {
  if (skewMs === null)
    return warn('clock', 'the service does not tell its time', 'keep NTP running')
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const said = `${seconds} s ${skewMs >= 0 ? 'ahead of' : 'behind'} the service’s`
  if (Math.abs(skewMs) > SKEW_MAX_MS) {
    return fail('clock', said, 'set this machine’s clock; no key is made until they agree')
  }
  return Math.abs(skewMs) > SKEW_NOTABLE_MS
    ? warn('clock', said, 'set this machine’s clock')
    : pass('clock', 'agrees with the service’s')
}

function keyLine(bot: Bot, { keys, managesKey }: CheckParts): Finding {
  const shown = bot.fingerprint?.toLowerCase() ?? null
  const { active = null, pending = null, all = [] } = keys ?? {}
  if (!managesKey) {
    return shown === null
      ? pass('key', 'key.publish is off, and the service shows no key')
      : warn(
          'key',
          `key.publish is off, and the service shows ${shown}`,
          'protected chats stay closed to the bot',
        )
  }
  if (shown !== null && shown === active) return pass('key', `the service shows ours, ${shown}`)
  if (shown !== null && !all.includes(shown)) {
    return fail(
      'key',
      `the service shows ${shown}, which is not ours`,
      'find who published it; postern key publish --replace puts ours in its place',
    )
  }
  if (shown !== null || pending !== null) {
    return warn('key', 'a publication is not finished', 'postern run finishes it')
  }
  if (active !== null) {
    return fail(
      'key',
      'the service shows no key, although ours was published',
      'postern key publish, or postern chat allow-readable --private to stay without',
    )
  }
  return warn(
    'key',
    'none is published: the first postern run publishes one, and every private chat of the bot becomes encrypted for good',
    'set key.publish to false to leave the bot open',
  )
}

function webhookLine(bot: Bot, { managesKey }: CheckParts): Finding {
  if (bot.webhook?.url == null) return pass('webhook', 'none stands at the service')
  return managesKey
    ? warn(
        'webhook',
        'one stands at the service, which delivers sealed updates to it',
        'let the bot set it again through Postern, which then delivers opened ones',
      )
    : pass('webhook', 'the service delivers to one itself')
}

function capacityOf(limits: Limits): string {
  const rooms = KINDS.map(
    ({ name, each }) => `${capacity(each, TYPICAL_TEXT_BYTES, limits.armoredMax)} ${name}`,
  )
  return `a text of ${TYPICAL_TEXT_BYTES} bytes fits for ${rooms.join(', or ')} recipients`
}

const pass = (name: string, message: string): Finding => ({ name, level: 'pass', message })
const warn = (name: string, message: string, hint: string): Finding => ({
  name,
  level: 'warn',
  message,
  hint,
})
const fail = (name: string, message: string, hint: string): Finding => ({
  name,
  level: 'fail',
  message,
  hint,
})
