/** Answers of rules, and the meaning of a refusal by the service. */
import { Refusal } from '../errors.ts'
import type { PublicationState } from './own-key/key-state.ts'
import type { KnownChats } from './wall/known-chats.ts'

/** Whether a rule allows an act; if not, the reason. */
export type Decision<Reason> = { allowed: true } | { allowed: false; reason: Reason }

export const ALLOWED = { allowed: true } as const

export const denied = <Reason>(reason: Reason): Decision<Reason> => ({ allowed: false, reason })

/** The reason of a denial; undefined for an allowed act. */
export const deniedReason = <Reason>(decision: Decision<Reason>): Reason | undefined =>
  decision.allowed ? undefined : decision.reason

/** Of readable text, and of a permit without a rule: nothing else makes `postern_downgrade_refused`. */
export const downgradeRefusal = (detail?: string): Refusal =>
  new Refusal('postern_downgrade_refused', detail)

/**
 * `protected`: the chat is latched, and the words are sealed. `downgrade`: never followed. `nobody`:
 * the person of the chat has no key. `final`: the bot gets the refusal.
 */
export type RefusalMeaning = 'protected' | 'downgrade' | 'nobody' | 'final'

/** Of a send or an edit. @param sent `armored`: the bot's own sealing, or no text at all */
export function meaningOfRefusal(
  { code, expected }: { code: string; expected?: string | undefined },
  sent: 'readable' | 'sealed' | 'armored',
): RefusalMeaning {
  if (code !== 'wrong_body_kind' || sent === 'armored') return 'final'
  if (sent === 'readable') return expected === 'armored' ? 'protected' : 'final'
  return expected === 'armored' ? 'final' : 'downgrade'
}

/** Of the key list of a chat that must be sealed to. */
export function meaningOfNoKeyList({ code }: { code: string }): RefusalMeaning {
  if (code === 'chat_is_open') return 'downgrade'
  return code === 'no_user_key' ? 'nobody' : 'final'
}

/**
 * The refusal of a downgrade, recorded: in a private chat the bot may have lost its key at the service,
 * which is compared first.
 * @throws Refusal `postern_store_unwritable`
 */
export async function refuseDowngrade(
  chatId: number,
  parts: {
    knownChats: Pick<KnownChats, 'refused' | 'isPrivate'>
    /** Null when the sidecar manages no key. */
    publication: { readonly state: PublicationState; compareNow(): Promise<void> } | null
  },
): Promise<Refusal> {
  const { knownChats, publication } = parts
  await knownChats.refused(chatId)
  if (knownChats.isPrivate(chatId) && publication !== null) {
    await publication.compareNow()
    if (publication.state === 'unprotected') return new Refusal('postern_bot_unprotected')
  }
  return downgradeRefusal()
}
