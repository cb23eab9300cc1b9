/**
 * A send or an edit of the bot: prepared, sent to the service, prepared anew where the service
 * refuses the kind of body, and answered as in a readable chat.
 */
import type { Outcomes } from '../store/outcomes.ts'
import type { StillMay } from '../clients/may-client.ts'
import { requireCleared, unobserved } from '../kernel/index.ts'
import type { Clearance, ClearFields, Outbound } from '../kernel/index.ts'
import { Listeners } from '../util/listeners.ts'
import { objectResult, sentView, withClearFields, withResult } from './bot-view.ts'
import type { EnvelopedAnswer } from './bot-view.ts'
import type { Draft } from './draft.ts'
import type { Outgoing, PreparedOutbound } from './outgoing.ts'

export interface MessagesParts<A extends EnvelopedAnswer> {
  outgoing: Outgoing
  clearFields: Pick<ClearFields, 'taken'>
  /** Makes the call; throws NoResponseError. */
  send: (outbound: Outbound, stillMay: StillMay) => Promise<A>
  /** The same for an edit. */
  edit: (outbound: Outbound, stillMay: StillMay) => Promise<A>
  /** Records the recipients of a message. */
  outcomes: Pick<Outcomes, 'sent'>
}

/** A sealed message that was sent; `ms` is the time of sealing. */
export interface SealedMessage {
  chatId: number
  recipients: number
  skipped: { userId: number; reason: string }[]
  /** False where the signature names no recipients, since only so it fitted. */
  isNamed: boolean
  ms: number
}

/** Statuses after which the memory of a chat may be wrong. */
const DOUBTFUL = new Set([403, 404])

export class Messages<A extends EnvelopedAnswer> {
  readonly #parts: MessagesParts<A>
  readonly #seals = new Listeners<SealedMessage>()
  /** Calls back for every sealed message that the service accepted. */
  readonly onSealed = this.#seals.add

  constructor(parts: MessagesParts<A>) {
    this.#parts = parts
  }

  /**
   * Sends or edits a message.
   * @param o `seesPeople` false: the answer shows nothing of the people in the chat; `clearance`: the
   *   kernel's, that the call needs no person's word or has it; `stillMay`: asked when it leaves
   * @returns the service's answer as the bot sees it, an acceptance or a refusal
   * @throws Refusal, ServiceError and NoResponseError as `Outgoing.prepare` and the calls do
   */
  async deliver(
    draft: Draft,
    o: { seesPeople: boolean; clearance: Clearance; stillMay: StillMay },
  ): Promise<A> {
    requireCleared(o.clearance, draft)
    const { outgoing } = this.#parts
    let prepared = await outgoing.prepare(draft)
    let answer = await this.#hand(prepared, o.stillMay)
    while (!answer.envelope.ok) {
      const again = await outgoing.reconsider(draft, prepared, answer.envelope.error)
      if (again === null) break
      prepared = again
      answer = await this.#hand(prepared, o.stillMay)
    }
    if (DOUBTFUL.has(answer.status)) outgoing.doubt(draft.chatId)
    return await this.#answer(answer, draft, { prepared, seesPeople: o.seesPeople })
  }

  async #hand({ outbound, leave }: PreparedOutbound, stillMay: StillMay): Promise<A> {
    try {
      return await this.#parts[outbound.route](outbound, stillMay)
    } finally {
      leave()
    }
  }

  async #answer(
    answer: A,
    draft: Draft,
    { prepared, seesPeople }: { prepared: PreparedOutbound; seesPeople: boolean },
  ): Promise<A> {
    const { recipients, isNamed, sealMs, clear } = prepared
    const { envelope } = answer
    const { clearFields } = this.#parts
    if (!envelope.ok || recipients === null) return withClearFields(answer, clear, clearFields)
    const { chatId } = draft
    const { skipped, certificates } = recipients
    const count = certificates.length
    this.#seals.emit({ chatId, recipients: count, skipped, isNamed, ms: sealMs })
    const sent = objectResult(unobserved(envelope.result), 'a sent message')
    const { id } = sent
    if (typeof id === 'number') {
      const atMs = Date.now()
      this.#parts.outcomes.sent({ messageId: id, atMs, chatId, recipients: count, skipped })
    }
    // the one report of a change is for a caller that may see people
    const keyChanged = seesPeople ? await this.#parts.outgoing.keyChanged(draft, prepared) : []
    const more = {
      ...(!isNamed && { recipientsNamed: false }),
      ...clearFields.taken(clear),
      ...(keyChanged.length > 0 && { keyChanged }),
      ...(!seesPeople && { skipped: [] }),
    }
    return withResult(answer, sentView(sent, { text: draft.text ?? '', recipients, more }))
  }
}
