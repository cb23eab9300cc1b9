/** Checks the bot's own key: the key that the service shows, and the age of ours. */
import type { Bot } from '../../api/bot.ts'
import type { OwnKeyRecord } from '../../kernel/index.ts'
import { fail, pass, warn, type CheckLine } from './check-line.ts'

/** The part of a keyring that is checked. */
export interface CheckedKeys {
  active: Pick<OwnKeyRecord, 'fingerprint' | 'createdAtMs' | 'endsMs'> | undefined
  pending: Pick<OwnKeyRecord, 'fingerprint'> | undefined
  all: readonly Pick<OwnKeyRecord, 'fingerprint'>[]
}

export interface KeyParts {
  /** Null when there never was a store; `unread` when there is one that does not open. */
  keys: CheckedKeys | null | 'unread'
  /** Setting `key.publish`. */
  managesKey: boolean
  /** Setting `key.rotateEveryDays`. */
  rotateEveryDays: number | undefined
}

const DAY_MS = 86_400_000
/** After which a key that nobody means to rotate is worth a word. */
const OLD_DAYS = 730
/** How long before its end a key is worth a word: time enough to rotate at leisure. */
const ENDING_DAYS = 30

/** @param bot as `GET /me` has it just now */
export const checkKey = (bot: Bot, parts: KeyParts): CheckLine[] => [
  keyLine(bot, parts),
  ...ageLine(parts),
]

function ageLine({ keys, managesKey, rotateEveryDays }: KeyParts): CheckLine[] {
  const active = keys === 'unread' ? undefined : keys?.active
  if (!managesKey || active === undefined) return []
  const { createdAtMs, endsMs } = active
  const days = Math.max(0, Math.floor((Date.now() - createdAtMs) / DAY_MS))
  const left = (endsMs - Date.now()) / DAY_MS
  const rotate = '`postern key rotate` makes a new one; the old one still opens'
  if (left <= 0) {
    return [fail('key age', `${days} days old and expired: nothing is sealed to it`, rotate)]
  }
  const ends = Number.isFinite(left)
    ? `expires on ${new Date(endsMs).toISOString().slice(0, 10)}`
    : 'never expires'
  const message = `${days} days old, ${ends}`
  if (left < ENDING_DAYS) return [warn('key age', message, rotate)]
  if (rotateEveryDays !== undefined && days > rotateEveryDays + 1) {
    const late = `${message}, and was to be rotated every ${rotateEveryDays}`
    return [warn('key age', late, '`postern status` says what keeps the rotation')]
  }
  return days > OLD_DAYS ? [warn('key age', message, rotate)] : [pass('key age', message)]
}

function keyLine(bot: Bot, { keys, managesKey }: KeyParts): CheckLine {
  const shown = bot.fingerprint?.toLowerCase() ?? null
  if (!managesKey) {
    if (shown === null) return pass('key', 'key.publish is off, and the service shows no key')
    const message = `key.publish is off, and the service shows ${shown}`
    return warn('key', message, 'protected chats stay closed to the bot')
  }
  if (keys === 'unread') {
    const message = `the service shows ${shown ?? 'none'}; our keys were not read, since the store does not open`
    return warn('key', message, 'mend the store first')
  }
  const pending = keys?.pending?.fingerprint
  const active = keys?.active?.fingerprint
  if (shown !== null && shown === active) {
    const ours = `the service shows ours, ${shown}`
    if (pending === undefined) return pass('key', ours)
    const message = `${ours}, while ${pending} waits for its publication`
    return warn('key', message, '`postern key rotate --watch` follows it, or --abandon ends it')
  }
  if (shown !== null && keys?.all.some(({ fingerprint }) => fingerprint === shown) !== true) {
    return fail(
      'key',
      `the service shows ${shown}, which is not ours`,
      'see that `dataDir`, or `store.url`, is where the key was made; if it is, find who published the other one, and `postern key publish --replace` puts ours in its place',
    )
  }
  if (shown !== null || pending !== undefined) {
    return warn('key', 'a publication is not finished', '`postern run` finishes it')
  }
  if (active !== undefined) {
    return fail(
      'key',
      'the service shows no key, although ours was published',
      '`postern key publish`, or `postern chat allow-readable --private` to stay without',
    )
  }
  return warn(
    'key',
    'none is published: the first `postern run` publishes one, and every private chat of the bot becomes encrypted for good',
    'set key.publish to false to leave the bot open',
  )
}
