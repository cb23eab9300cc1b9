/**
 * Previews Postern's treatment of a chat once the bot's key is published, without sending: for
 * operators before publishing (`postern chat show`, `postern check --chats`).
 */
import type { Modes } from '../service/lookups/modes.ts'
import { chooseRecipients, deniedReason, downgradeRefusal } from '../kernel/index.ts'
import { mayReceive, recipientRules } from '../kernel/index.ts'
import type { Guard, KeyList, ModeAnswer, RecipientParts, RecipientRules } from '../kernel/index.ts'
import { NoResponseError, OperatorError, Refusal, ServiceError, failedError } from '../errors.ts'
import { monotonicNow } from '../util/clock.ts'
import type { Directory } from '../service/lookups/directory.ts'

/** Somebody on a chat's key list. */
export interface PreviewedPerson {
  userId: number
  /** Computed by us; null when nothing could be parsed. */
  fingerprint: string | null
  /** Why they would get nothing; null when they would get the message. */
  skipped: string | null
}

/** The preview of a text that the bot sends into a chat. */
export interface ChatPreview {
  chatId: number
  /** `unknown` while the service gives no usable answer. */
  body: 'sealed' | 'readable' | 'refused' | 'unknown'
  people: PreviewedPerson[]
  /** Number of members beside the bot without a key, and so unable to read it; null while unknown. */
  withoutKey: number | null
  /** Why it would be refused, or is not known; null otherwise. */
  problem: { code: string; message: string; hint: string | null } | null
}

export interface PreviewParts extends RecipientParts {
  guard: Pick<Guard, 'willSeal' | 'mayBeReadable'>
  modes: Modes
  directory: Directory
}

/** Fetches the chat and its keys from the service. Never throws because of their content. */
export async function previewChat(chatId: number, parts: PreviewParts): Promise<ChatPreview> {
  const preview = { chatId, people: [], withoutKey: null }
  let answer: ModeAnswer
  let list: KeyList
  try {
    answer = await parts.modes.get(chatId, monotonicNow())
    if (!parts.guard.willSeal(chatId, answer)) {
      const decision = parts.guard.mayBeReadable(chatId, answer, true)
      if (decision.allowed) return { ...preview, body: 'readable', problem: null }
      throw downgradeRefusal(decision.reason)
    }
    list = await keyListOf(chatId, parts)
  } catch (error) {
    const isRefused = error instanceof Refusal && !isTransient(error)
    return { ...preview, body: isRefused ? 'refused' : 'unknown', problem: problemOf(error) }
  }
  return { chatId, ...judge(list, recipientRules(chatId, parts)) }
}

function judge(list: KeyList, rules: RecipientRules): Omit<ChatPreview, 'chatId'> {
  const people = list.people.map((person) => ({
    userId: person.userId,
    fingerprint: person.fingerprint,
    skipped: deniedReason(mayReceive(person, rules)) ?? null,
  }))
  const withoutKey = list.memberCount === undefined ? null : list.memberCount - 1 - people.length
  try {
    chooseRecipients(list, rules)
    return { body: 'sealed', people, withoutKey, problem: null }
  } catch (error) {
    return { body: 'refused', people, withoutKey, problem: problemOf(error) }
  }
}

/** A private chat has no key list while the bot has no key: there its person's own record counts. */
async function keyListOf(
  chatId: number,
  { directory, knownChats }: Pick<PreviewParts, 'directory' | 'knownChats'>,
): Promise<KeyList> {
  try {
    return await directory.keyList(chatId, monotonicNow())
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.code === 'no_user_key') throw new Refusal('postern_no_recipient')
    if (error.code !== 'chat_is_open') throw error
    const userId = knownChats.personOf(chatId)
    if (userId === null) {
      throw failedError(
        'the service gives no key list for a readable chat, and whose private chat it is was not learned yet',
        `\`postern chat bind ${chatId} <userId>\` says whose it is`,
      )
    }
    const person = await directory.signer(userId, chatId, monotonicNow())
    const people = person === null ? [] : [person]
    return { people, nameless: 0, memberCount: 2, lapsesAtMs: Infinity, tooMany: null }
  }
}

/** No usable answer, or no call of our own is left: this is no property of the chat. */
const isTransient = (error: Refusal): boolean =>
  error instanceof NoResponseError || error.code === 'postern_busy'

/** @throws any error that is none of Postern's families */
function problemOf(error: unknown): NonNullable<ChatPreview['problem']> {
  if (error instanceof Refusal || error instanceof OperatorError) {
    return { code: error.code, message: error.message, hint: error.hint ?? null }
  }
  if (error instanceof ServiceError) {
    const hint = 'the service answers so for this chat; the bot would get the same'
    return { code: error.code, message: error.message, hint }
  }
  throw error
}
