/**
 * The guard decides whether a body may leave, and alone makes the permit that the client of the
 * service demands for a send or an edit.
 */
import { OvertakenError, Refusal } from '../../errors.ts'
import { Sealed, looksEncrypted } from '../../openpgp/index.ts'
import { ALLOWED, denied, downgradeRefusal, type Decision } from '../decision.ts'
import type { ModeAnswer, ModeLookups, Time } from '../lookups.ts'
import type { KnownChats } from './known-chats.ts'
import { Freshness, groundOf, type LaterGround, type PermitGround } from './grounds.ts'

export interface PermitTarget {
  /** `send` is POST /messages, `edit` is PATCH /messages/{id}. */
  route: 'send' | 'edit'
  /** Path below the API prefix, encoded. */
  path: string
  /** Null: the call is made at once. */
  later: LaterGround | null
}

/** Made in this file alone. */
class Permit {
  readonly route: PermitTarget['route']
  readonly path: string
  /** The request body, JSON, as it is sent; the same bytes on every retry. */
  readonly body: Buffer
  readonly ground: PermitGround
  readonly #isIssued = true

  constructor(target: PermitTarget, body: Buffer, ground: PermitGround) {
    this.route = target.route
    this.path = target.path
    this.body = body
    this.ground = target.later === null ? ground : groundOf(ground, target.later)
  }

  static isReal(value: unknown): boolean {
    return typeof value === 'object' && value !== null && #isIssued in value && value.#isIssued
  }
}

/** A send or an edit that the guard permits. */
export type Outbound = Permit

/** Whether the guard made it; the client of the service checks before each send. */
export const isOutbound = (value: unknown): value is Outbound => Permit.isReal(value)

/** How the chat must be written to; made by `Guard.rule` alone. */
class ChatRule implements PermitGround {
  readonly chatId: number
  readonly body: 'sealed' | 'readable'
  /** Memory demands a sealed body, against any answer of the service. */
  readonly isByMemory: boolean
  readonly require: PermitGround['require']
  readonly renew: PermitGround['renew']
  /** Call it before the permit is used. @throws OvertakenError where it was made by older memory */
  readonly confirm: () => Promise<void>
  readonly #judged = true

  constructor({ chatId, body, isByMemory, ...ground }: Omit<ChatRule, never>) {
    this.chatId = chatId
    this.body = body
    this.isByMemory = isByMemory
    this.require = ground.require
    this.renew = ground.renew
    this.confirm = ground.confirm
  }

  /** Whether the guard made this rule, for this chat and this kind of body. */
  static allows(rule: unknown, { chatId, body }: Pick<ChatRule, 'chatId' | 'body'>): boolean {
    const isReal = typeof rule === 'object' && rule !== null && #judged in rule && rule.#judged
    return isReal && rule.body === body && rule.chatId === chatId
  }
}
export type Rule = ChatRule

export interface BodyFields {
  chatId: number
  [name: string]: unknown
}

/** A sealed body may go wherever the chat goes: no later answer of the service forbids it. */
const NO_GROUND = { require: () => {}, renew: async () => {}, confirm: async () => {} }

export interface GuardParts {
  time: Time
  /** Updates the memory with the changes of all sidecars (`Store.fresh`). */
  fresh: () => Promise<void>
  /** As `Memory.epoch`; null when not given. */
  epoch?: () => number | null
  /** How old that may be when readable text is written, in ms; Infinity for a store of one sidecar. */
  freshForMs: number
  knownChats: KnownChats
  modes: ModeLookups
  /** Whether there is a key, or `key.publish` is on: private chats are protected unless the operator lifts it. */
  ownsKey(): boolean
  /** False for a sidecar without a key: then the reported mode decides. */
  sealsForBot: boolean
  /** Setting `readableGroups`. */
  readableGroups: 'allow' | 'refuse'
  /** Setting `cache.chatSeconds`, in ms. */
  chatMaxAgeMs: number
}

export class Guard {
  /** Traces put a span around these calls, and replace no other method. */
  static readonly traced = ['rule'] as const
  readonly #parts: GuardParts

  constructor(parts: GuardParts) {
    this.#parts = parts
  }

  /**
   * How a chat must be written to. Readable only by an answer of the service no older than the
   * setting; a chat that is known as private or protected is sealed without an answer.
   * @throws Refusal `postern_downgrade_refused`, `postern_store_unwritable`; ServiceError and
   *   NoResponseError when the mode cannot be learned
   */
  async rule(chatId: number): Promise<Rule> {
    const { knownChats, modes, time, fresh, chatMaxAgeMs, freshForMs, sealsForBot } = this.#parts
    const freshness = new Freshness(fresh, time)
    await freshness.renew()
    const renew = (): Promise<void> => freshness.renew()
    const sealed = (isByMemory: boolean): ChatRule =>
      new ChatRule({ ...NO_GROUND, chatId, body: 'sealed', isByMemory, renew })
    if (this.mustSeal(chatId)) return sealed(true)
    const answer = await modes.get(chatId, time.monotonicMs() - chatMaxAgeMs)
    const isByMemory = this.mustSeal(chatId)
    if (isByMemory || answer.mode === 'protected') return sealed(isByMemory)
    const mayLeave = (): Decision<string> => this.mayBeReadable(chatId, answer, sealsForBot)
    const decision = mayLeave()
    if (!decision.allowed) {
      await knownChats.refused(chatId)
      throw downgradeRefusal(decision.reason)
    }
    const require = (): void => {
      freshness.requireWithin(freshForMs)
      if (this.mustSeal(chatId) || !mayLeave().allowed) throw downgradeRefusal()
    }
    return new ChatRule({ ...NO_GROUND, chatId, body: 'readable', isByMemory, require, renew })
  }

  /**
   * The rule of a chat that memory has sealed, before that is known to be as new as the store: nothing
   * leaves by it until `confirm` has found the same epoch again. Null: ask for the rule.
   */
  guess(chatId: number): Rule | null {
    const { epoch = () => null, fresh } = this.#parts
    const before = epoch()
    if (before === null || !this.mustSeal(chatId)) return null
    let isConfirmed = false
    const require = (): void => {
      if (!isConfirmed) throw downgradeRefusal()
    }
    const confirm = async (): Promise<void> => {
      await fresh()
      if (epoch() !== before) throw new OvertakenError()
      isConfirmed = true
    }
    const ground = { ...NO_GROUND, require, confirm }
    return new ChatRule({ ...ground, chatId, body: 'sealed', isByMemory: true })
  }

  mustSeal(chatId: number): boolean {
    const { knownChats } = this.#parts
    if (knownChats.isLatched(chatId)) return true
    return knownChats.isPrivate(chatId) && this.#isPrivateProtected()
  }

  #isPrivateProtected(): boolean {
    return !this.#parts.knownChats.privateReadable && this.#parts.ownsKey()
  }

  /** Whether a chat will be sealed once there is a key, by an answer of the service. */
  willSeal(chatId: number, { mode }: Pick<ModeAnswer, 'mode'>): boolean {
    const { knownChats } = this.#parts
    const isPrivate = knownChats.isPrivate(chatId) && !knownChats.privateReadable
    return isPrivate || mode === 'protected' || this.mustSeal(chatId)
  }

  /** True for a bot that never had a key: then nothing is sealed. */
  get passesAll(): boolean {
    return !this.#parts.sealsForBot && !this.#isPrivateProtected()
  }

  /**
   * Permits a sealed body with the other fields of the send or edit.
   * @param o `requireHeld` called before every attempt: throws a Refusal once the key that signed may
   *   not be the published one any more
   * @throws Refusal `postern_downgrade_refused` without a rule for it, `bad_request` when sealing
   *   did not make it
   */
  permitSealed(
    rule: Rule,
    target: PermitTarget,
    o: { fields: BodyFields; sealed: Sealed; requireHeld: () => void },
  ): Outbound {
    const { fields, sealed, requireHeld } = o
    requireRule(rule, fields.chatId, 'sealed')
    if (!Sealed.isReal(sealed)) throw notSealed()
    // `sealed.json` is escaped already: JSON.stringify would read a hundred thousand characters again
    const start = Buffer.from(`${JSON.stringify(bodiless(fields)).slice(0, -1)},"armored":"`)
    const body = Buffer.concat([start, ...sealed.json, Buffer.from('"}')])
    const require = (): void => {
      requireHeld()
      rule.require()
    }
    return new Permit(target, body, { ...NO_GROUND, require })
  }

  /**
   * Permits a body that the bot sealed itself. For a bot that ever had a key here it must be an
   * encrypted message; otherwise the service judges it.
   * @throws Refusal `postern_downgrade_refused` without a rule for it, `bad_request`
   */
  permitOwnSealing(
    rule: Rule,
    target: PermitTarget,
    { fields, armored }: { fields: BodyFields; armored: string },
  ): Outbound {
    requireRule(rule, fields.chatId, 'sealed')
    if (!this.passesAll && !looksEncrypted(armored)) throw notSealed()
    const ground = { ...NO_GROUND, require: rule.require }
    return new Permit(target, json({ ...bodiless(fields), armored }), ground)
  }

  /** Permits readable text. @throws Refusal `postern_downgrade_refused` without a rule for it, `postern_mode_changed` */
  permitReadable(rule: Rule, target: PermitTarget, fields: BodyFields): Outbound {
    requireRule(rule, fields.chatId, 'readable')
    if (target.later?.isForSealed === true) throw new Refusal('postern_mode_changed')
    return new Permit(target, json(fields), rule)
  }

  /** Permits an edit of the buttons alone: it has no body, and buttons are never encrypted. */
  permitMarkup(target: PermitTarget, { chatId, markup }: BodyFields): Outbound {
    return new Permit(target, json({ chatId, markup }), NO_GROUND)
  }

  /** Whether readable text may leave, or with `sealsForBot` will once there is a key. */
  mayBeReadable(chatId: number, answer: ModeAnswer, sealsForBot: boolean): Decision<string> {
    const { knownChats, readableGroups } = this.#parts
    if (readableGroups === 'refuse') return denied('the setting readableGroups refuses it')
    // a later sighting may have shown a stricter kind than the answer
    const kind = knownChats.get(chatId)?.kind ?? answer.kind
    if (kind === 'private' || kind === 'channel') return ALLOWED
    if (kind !== 'group' && sealsForBot) return denied('the chat is of a kind that is not known')
    if (!sealsForBot || answer.historyVisible) return ALLOWED
    return denied('the group claims to be open without an open history')
  }
}

function requireRule(rule: Rule, chatId: number, body: Rule['body']): void {
  if (!ChatRule.allows(rule, { chatId, body })) throw downgradeRefusal()
}

/** The other fields of a send whose body is sealed. @throws Refusal `bad_request` for a body */
function bodiless(fields: BodyFields): BodyFields {
  if ('text' in fields || 'armored' in fields) throw notSealed()
  return fields
}

const notSealed = (): Refusal => new Refusal('bad_request', 'armored: must be an OpenPGP message')

const json = (fields: Record<string, unknown>): Buffer => Buffer.from(JSON.stringify(fields))
