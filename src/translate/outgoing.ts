/** Makes a draft ready to send: readable or sealed, always with a permit. */
import { downgradeRefusal, meaningOfNoKeyList, meaningOfRefusal } from '../kernel/index.ts'
import { recipientsOf, refuseDowngrade } from '../kernel/index.ts'
import type { ClearField, ClearFields, Guard, KeyChange, KeyList } from '../kernel/index.ts'
import type { Outbound, RecipientParts, Recipients, ReplayMemory } from '../kernel/index.ts'
import type { Rule, Sightings, Time } from '../kernel/index.ts'
import type { Modes } from '../service/lookups/modes.ts'
import { OvertakenError, Refusal, ServiceError } from '../errors.ts'
import { monotonicNow } from '../util/clock.ts'
import type { Directory } from '../service/lookups/directory.ts'
import type { Publication } from '../keys/publication.ts'
import { fit, type Engine, type UnlockedKey } from '../openpgp/index.ts'
import type { KeyChanges } from './key-changes.ts'
import { emptyDraft, type Draft } from './draft.ts'
import { personGoneRefusal, tooLarge } from './send-refusals.ts'

/** A body with its permit and its recipients; `recipients` is null when nothing was sealed. */
export interface PreparedOutbound {
  outbound: Outbound
  recipients: Recipients | null
  /** The signature names its recipients, as it does unless only without does it fit. */
  isNamed: boolean
  sealMs: number
  /** Everybody on the key list that it was sealed by. */
  listed: readonly number[]
  /** Fields that are readable in a protected chat. */
  clear: readonly ClearField[]
  /**
   * Call it when the message was answered or will not be sent. Until then no other key is published
   * than the one that signed it.
   */
  leave: () => void
}

const UNSEALED = {
  recipients: null,
  isNamed: false,
  sealMs: 0,
  listed: [],
  clear: [],
  leave: () => {},
}

export interface OutgoingParts extends RecipientParts {
  guard: Guard
  sightings: Pick<Sightings, 'sawProtected'>
  clearFields: ClearFields
  modes: Modes
  directory: Directory
  /** Null when the sidecar manages no key (`key.publish: false`). */
  publication: Publication | null
  engine: Engine
  keyChanges: Pick<KeyChanges, 'tell'>
  /** Null when there is no key to open with. */
  replayMemory: ReplayMemory | null
  armoredMax: () => number
  time: Pick<Time, 'nowMs'>
  /** Setting `cache.keyListSeconds`, in ms. */
  keyListMaxAgeMs: number
}

export class Outgoing {
  readonly #parts: OutgoingParts

  constructor(parts: OutgoingParts) {
    this.#parts = parts
  }

  /**
   * Makes a draft ready to leave: as it is into a readable chat, sealed into a protected one.
   * @throws Refusal with Postern's codes; ServiceError and NoResponseError from calls of our own
   */
  async prepare(draft: Draft): Promise<PreparedOutbound> {
    const hasBody = draft.text !== undefined || draft.armored !== undefined
    const changesMarkup = draft.target.route === 'edit' && 'markup' in draft.fields
    if (!hasBody && changesMarkup && draft.unlisted.length === 0) {
      const { chatId, markup } = draft.fields
      return {
        outbound: this.#parts.guard.permitMarkup(draft.target, { chatId, markup }),
        ...UNSEALED,
        clear: await this.#parts.clearFields.ofMarkupEdit(chatId, draft.fields),
      }
    }
    const { guard, publication } = this.#parts
    const guess = draft.text === undefined ? null : guard.guess(draft.chatId)
    const guessed = guess && (await this.#guessed(guess, draft))
    if (guessed !== null) return guessed
    // concurrent with the calls of the rule
    const isExpected = draft.text !== undefined && this.#parts.directory.hasKeyList(draft.chatId, 0)
    if (isExpected) publication?.expectSend()
    const rule = await guard.rule(draft.chatId)
    if (!hasBody && !changesMarkup) {
      const expected = rule.body === 'sealed' ? 'armored' : 'text'
      throw emptyDraft(draft.target.route, expected)
    }
    if (rule.body === 'sealed') return await this.#sealed(rule, draft)
    const { target, fields, text, armored } = draft
    return {
      outbound: guard.permitReadable(rule, target, { ...fields, text, armored }),
      ...UNSEALED,
    }
  }

  /**
   * The service refused a message: into a chat that is protected, as that shows, it is sealed and sent
   * once more.
   * @param code the service's code, @param expected its field
   * @returns null when the service's answer is final
   */
  async reconsider(
    draft: Draft,
    prepared: PreparedOutbound,
    refusal: { code: string; expected?: string | undefined },
  ): Promise<PreparedOutbound | null> {
    const { chatId, text } = draft
    const unsealed = text === undefined ? 'armored' : 'readable'
    const sent = prepared.recipients === null ? unsealed : 'sealed'
    const meaning = meaningOfRefusal(refusal, sent)
    if (meaning === 'downgrade') throw await this.#downgrade(chatId)
    if (meaning !== 'protected') return null
    await this.#parts.sightings.sawProtected(chatId)
    return this.#parts.publication === null ? null : await this.prepare(draft)
  }

  /** Changed certificates in a message's key list, each reported to the bot once. */
  async keyChanged(draft: Draft, { listed }: PreparedOutbound): Promise<KeyChange[]> {
    const { chatId, fields, target } = draft
    const { sendId } = fields
    const key = typeof sendId === 'string' ? sendId : target.path
    return await this.#parts.keyChanges.tell(listed, { chatId, by: 'send', key })
  }

  /** The service refused the bot in a chat: forgets the chat's mode and members. */
  doubt(chatId: number): void {
    this.#parts.modes.forget(chatId)
    this.#parts.directory.forget(chatId)
  }

  /** Null where another sidecar has written meanwhile: it is decided anew. @throws as `prepare` does */
  async #guessed(rule: Rule, draft: Draft): Promise<PreparedOutbound | null> {
    try {
      return await this.#sealed(rule, draft)
    } catch (error) {
      const isOvertaken = error instanceof OvertakenError
      // by older memory alone it may have failed
      const asked = isOvertaken ? error : await rule.confirm().then(() => error, asItIs)
      if (asked instanceof OvertakenError) return null
      throw asked
    }
  }

  async #sealed(rule: Rule, draft: Draft): Promise<PreparedOutbound> {
    const { publication, guard } = this.#parts
    if (draft.unlisted.length > 0 && !guard.passesAll) {
      throw new Refusal('bad_request', `${draft.unlisted[0]}: no such field in this chat`)
    }
    const clear = this.#parts.clearFields.ofMessage(draft.fields)
    if (draft.armored !== undefined) {
      const { fields, armored } = draft
      const outbound = guard.permitOwnSealing(rule, draft.target, { fields, armored })
      return { outbound, ...UNSEALED, clear }
    }
    if (publication === null) {
      if (rule.isByMemory && this.#parts.keyring.all.length > 0) {
        throw downgradeRefusal('the setting key.publish is off')
      }
      throw new Refusal('wrong_body_kind', 'this chat takes armored', {
        extra: { expected: 'armored' },
      })
    }
    return { ...(await this.#seal(rule, draft, publication)), clear }
  }

  async #seal(rule: Rule, draft: Draft, publication: Publication) {
    publication.expectSend()
    const entered = await publication.enter(() => this.#keyList(draft.chatId))
    const { prepared: list, signer, requireHeld, leave } = entered
    try {
      // people on the list may have been blocked while it was fetched
      await rule.renew()
      const recipients = await recipientsOf(draft.chatId, list, this.#parts)
      const how = { rule, draft, signer: signer.unlocked, requireHeld }
      const sealed = await this.#sealTo(recipients, how)
      publication.requirePublished()
      return { ...sealed, recipients, listed: list.people.map(({ userId }) => userId), leave }
    } catch (error) {
      leave()
      throw error
    }
  }

  async #sealTo(
    recipients: Recipients,
    o: { rule: Rule; draft: Draft; signer: UnlockedKey; requireHeld: () => void },
  ): Promise<Pick<PreparedOutbound, 'outbound' | 'isNamed' | 'sealMs'>> {
    const { rule, draft, signer, requireHeld } = o
    const { fields, text = '' } = draft
    const { engine, guard, armoredMax, replayMemory, botId } = this.#parts
    const count = recipients.certificates.length + 1
    const fitting = fit(recipients.recipientBytes, {
      textBytes: Buffer.byteLength(text),
      maxChars: armoredMax(),
      own: signer.sizes,
      named: count,
    })
    if (!fitting.fits) throw tooLarge(count, fitting.leastChars, armoredMax())
    const { cipher, isNamed } = fitting
    const startedAtMs = performance.now()
    const sealed = await engine.sealKnown({
      text,
      certificates: recipients.certificates,
      signer,
      cipher,
      isUnnamed: !isNamed,
      place: String(draft.chatId),
    })
    if (sealed.chars > armoredMax()) throw tooLarge(count, sealed.chars, armoredMax())
    // before they leave, so that nobody can put our words before the bot in another chat
    const remembered = replayMemory?.rememberOwn({
      chatId: draft.chatId,
      updateId: null,
      messageId: null,
      userId: botId(),
      dateMs: this.#parts.time.nowMs(),
      dataDigest: sealed.dataDigest,
      signatureDigest: sealed.statementDigest,
    })
    await Promise.all([rule.confirm(), remembered])
    return {
      outbound: guard.permitSealed(rule, draft.target, { fields, sealed, requireHeld }),
      isNamed,
      sealMs: performance.now() - startedAtMs,
    }
  }

  async #keyList(chatId: number): Promise<KeyList> {
    const { directory, modes, keyListMaxAgeMs } = this.#parts
    try {
      return await directory.keyList(chatId, monotonicNow() - keyListMaxAgeMs)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const meaning = meaningOfNoKeyList(error)
      if (meaning === 'downgrade') throw await this.#downgrade(chatId)
      if (meaning !== 'nobody') throw error
      throw personGoneRefusal(await modes.ask(chatId)) ?? new Refusal('postern_no_recipient')
    }
  }

  async #downgrade(chatId: number): Promise<Refusal> {
    this.doubt(chatId)
    return await refuseDowngrade(chatId, this.#parts)
  }
}

const asItIs = (error: unknown): unknown => error
