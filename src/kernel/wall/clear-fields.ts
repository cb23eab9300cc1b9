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

/** All that judge fields throw Refusal `postern_clear_refused` where the setting refuses one. */
export class ClearFields {
  readonly #parts: ClearFieldsParts
  readonly #sent = new Listeners<readonly ClearField[]>()
  /** Calls back with the fields sent in clear into a protected chat, once the service accepted them. */
  readonly onSent = this.#sent.add

  constructor(parts: ClearFieldsParts) {
    this.#parts = parts
  }

  /** The clear fields of a send or edit into a protected chat; removed buttons are none. */
  ofMessage(fields: Record<string, unknown>): readonly ClearField[] {
    return this.#judge(fields, ['markup'])
  }

  /**
   * The same for an edit of the buttons alone, into any chat. The chat's mode is asked for only
   * where the setting refuses.
   * @throws as `Guard.rule`
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
   * The clear fields of the answer to a press, which counts as one in a protected chat unless every
   * chat of the press is readable.
   */
  async ofCallback(callbackId: string, body: unknown): Promise<readonly ClearField[]> {
    if (this.#parts.guard.passesAll || !isObject(body)) return []
    if (!isGiven(body['text']) && !isGiven(body['url'])) return []
    return (await this.#isReadable(callbackId)) ? [] : this.#judge(body, ['text', 'url'])
  }

  /** The service has accepted the fields. @returns the part of `postern` about them */
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
