/** Fields that the service never encrypts (spec, Inline keyboard, Events), in protected chats. */
import { isObject } from '../unseen.ts'
import type { Presses } from './presses.ts'
import { Refusal } from '../../errors.ts'
import { Listeners } from '../../util/listeners.ts'
import type { Guard } from './guard.ts'

/** What may go in clear: the buttons of a message; the text and url of a callback answer. */
export const CLEAR_FIELDS = ['markup', 'text', 'url'] as const
export type ClearField = (typeof CLEAR_FIELDS)[number]

/** Setting `clearFields`. */
export type ClearFieldsPolicy = 'allow' | 'warn' | 'refuse'

export interface ClearFieldsParts {
  guard: Pick<Guard, 'rule' | 'mustSeal' | 'passesAll'>
  presses: Pick<Presses, 'chatsOf'>
  policy: ClearFieldsPolicy
}

export class ClearFields {
  readonly #parts: ClearFieldsParts
  readonly #sent = new Listeners<readonly ClearField[]>()

  constructor(parts: ClearFieldsParts) {
    this.#parts = parts
  }

  /** Calls back with the fields that went in clear into a protected chat, once they were taken. */
  onSent(listener: (fields: readonly ClearField[]) => void): void {
    this.#sent.add(listener)
  }

  /**
   * What of a send or edit into a protected chat goes in clear; buttons that are removed do not.
   * @throws Refusal `postern_clear_refused` where the setting refuses it
   */
  ofMessage(fields: Record<string, unknown>): readonly ClearField[] {
    return this.#judge(fields, ['markup'])
  }

  /**
   * The same of an edit of the buttons alone, which goes into any chat. Only where the setting
   * refuses is the chat's mode asked for.
   * @throws as `ofMessage` and `Guard.rule`
   */
  async ofMarkupEdit(
    chatId: number,
    fields: Record<string, unknown>,
  ): Promise<readonly ClearField[]> {
    const { guard, policy } = this.#parts
    if (!isGiven(fields['markup']) || guard.passesAll) return []
    const isSealed =
      policy === 'refuse' ? (await guard.rule(chatId)).body === 'sealed' : guard.mustSeal(chatId)
    return isSealed ? this.ofMessage(fields) : []
  }

  /**
   * What of the answer to a press goes in clear. Unless every chat that it was seen in is known to be
   * readable, it counts as one of a protected chat.
   * @throws Refusal `postern_clear_refused` where the setting refuses it
   */
  async ofCallback(callbackId: string, body: unknown): Promise<readonly ClearField[]> {
    if (this.#parts.guard.passesAll || !isObject(body)) return []
    if (!isGiven(body['text']) && !isGiven(body['url'])) return []
    return (await this.#isReadable(callbackId)) ? [] : this.#judge(body, ['text', 'url'])
  }

  /** The service has taken them. @returns what `postern` says of it */
  taken(clear: readonly ClearField[]): { clear?: readonly ClearField[] } {
    if (clear.length === 0) return {}
    this.#sent.emit(clear)
    return this.#parts.policy === 'allow' ? {} : { clear }
  }

  #judge(fields: Record<string, unknown>, names: readonly ClearField[]): readonly ClearField[] {
    const { guard, policy } = this.#parts
    const clear = guard.passesAll ? [] : names.filter((name) => isGiven(fields[name]))
    if (clear.length > 0 && policy === 'refuse') {
      throw new Refusal('postern_clear_refused', clear.join(', '))
    }
    return clear
  }

  async #isReadable(callbackId: string): Promise<boolean> {
    const { presses, guard } = this.#parts
    try {
      const chats = await presses.chatsOf(callbackId)
      const rules = await Promise.all(chats.map((chatId) => guard.rule(chatId)))
      return rules.length > 0 && rules.every(({ body }) => body === 'readable')
    } catch {
      return false
    }
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''
