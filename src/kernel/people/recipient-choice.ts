/** To whom a message into a chat is sealed, by what is known of the chat and its people. */
import type { KnownChats } from '../wall/known-chats.ts'
import { Refusal } from '../../errors.ts'
import type { KeyList } from '../lookups.ts'
import type { Keyring } from '../own-key/keyring.ts'
import type { KeyListHistory } from './key-list-history.ts'
import type { People } from './people.ts'
import {
  chooseRecipients,
  solePersonOf,
  type RecipientRules,
  type Recipients,
} from './recipients.ts'
import type { Trust } from './trust.ts'

export interface RecipientParts {
  knownChats: KnownChats
  keyring: Keyring
  people: People
  trust: Trust
  keyListHistory: KeyListHistory
  botId: () => number | null
  /** Setting `seal.unusableRecipient`. */
  unusableRecipient: 'skip' | 'refuse'
}

/**
 * The recipients of a message, by a chat's key list. A private chat is its first person's for good,
 * which is on disk before anything is sealed to them.
 * @throws as `chooseRecipients` does; Refusal `postern_store_unwritable`
 */
export async function recipientsOf(
  chatId: number,
  list: KeyList,
  parts: RecipientParts,
): Promise<Recipients> {
  const { knownChats, keyListHistory, botId } = parts
  if (knownChats.isPrivate(chatId) && knownChats.personOf(chatId) === null) {
    const userId = solePersonOf(list, botId())
    if (userId !== null) await knownChats.saw([{ chatId, userId }])
  }
  try {
    // from here on nothing is waited for: of two sends with other lists, one finds its list wrong
    return chooseRecipients(list, recipientRules(chatId, parts))
  } catch (error) {
    if (error instanceof Refusal && error.code === 'postern_recipients_inconsistent') {
      const stranger = strangerIn(list, [knownChats.personOf(chatId), botId()])
      await keyListHistory.contradicts(chatId, {
        why: error.message,
        ...(stranger !== undefined && { stranger }),
      })
    }
    throw error
  }
}

/** How a chat's key list is judged now. */
export function recipientRules(
  chatId: number,
  { knownChats, keyring, people, trust, unusableRecipient, botId }: RecipientParts,
): RecipientRules {
  return {
    isPrivate: knownChats.isPrivate(chatId),
    personId: knownChats.personOf(chatId),
    unusable: unusableRecipient,
    botId: botId(),
    own: keyring.fingerprints,
    epoch: trust.epoch,
    isOthers: (pair) => people.isOthers(pair),
    distrust: (userId, fingerprint) => trust.distrust(userId, fingerprint, chatId),
  }
}

/** Who is on the list of a private chat that is a person's, and is neither them nor the bot. */
function strangerIn(
  { people }: KeyList,
  [personId, botId]: [number | null, number | null],
): number | undefined {
  if (personId === null) return undefined
  return people.find(({ userId }) => userId !== personId && userId !== botId)?.userId
}
