/** To whom a message into a chat is sealed, by what is known of the chat and its people. */
import type { Facts } from '../chats/facts.ts'
import { Refusal } from '../errors.ts'
import type { KeyList } from '../keys/directory.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Lists } from '../keys/lists.ts'
import type { People } from '../keys/people.ts'
import { chooseRecipients, solePersonOf, type Recipients } from '../keys/recipients.ts'
import type { Trust } from '../keys/trust.ts'

export interface RecipientParts {
  facts: Facts
  keyring: Keyring
  people: People
  trust: Trust
  lists: Lists
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
  const { facts, keyring, people, trust, lists, unusableRecipient, botId } = parts
  if (facts.isPrivate(chatId) && facts.personOf(chatId) === null) {
    const userId = solePersonOf(list, botId())
    if (userId !== null) await facts.sawPersons([{ chatId, userId }])
  }
  try {
    // from here on nothing is waited for: of two sends with other lists, one finds its list wrong
    return chooseRecipients(list, {
      isPrivate: facts.isPrivate(chatId),
      personId: facts.personOf(chatId),
      unusable: unusableRecipient,
      botId: botId(),
      own: keyring.fingerprints,
      epoch: trust.epoch,
      isOthers: (pair) => people.isOthers(pair),
      distrust: (userId, fingerprint) => trust.distrust(userId, fingerprint, chatId),
    })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'postern_recipients_inconsistent') {
      await lists.contradicts(chatId, error.message)
    }
    throw error
  }
}
