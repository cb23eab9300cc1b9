/**
 * The guard: the one place that decides whether a body may leave, and the only maker of a permit,
 * which is all that the client of the service accepts for a send or an edit (DESIGN: The guard).
 */
import { Refusal } from '../../errors.ts'
import { Sealed, looksEncrypted } from '../../openpgp/index.ts'
import type { ModeAnswer, ModeLookups, Time } from '../lookups.ts'
import { Freshness } from './freshness.ts'
import type { KnownChats } from './known-chats.ts'

/** Where a body goes. */
export interface PermitTarget {
  /** `send` is POST /messages, `edit` is PATCH /messages/{id}. */
  route: 'send' | 'edit'
  /** Path below the API prefix, encoded. */
  path: string
}

/** What a permit rests on: asked for by every permit, whatever it lets out. */
export interface PermitGround {
  /**
   * Read before every attempt, and when the body is written: false once something was learned that
   * forbids the body to leave.
   * @throws Refusal when that is not known any more
   */
  holds: () => boolean
  /**
   * Called before `holds`: brings what it rests on up to date.
   * @throws Refusal `postern_store_unwritable`
   */
  renew: () => Promise<void>
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
    this.ground = ground
  }

  static isReal(value: unknown): boolean {
    return typeof value === 'object' && value !== null && #isIssued in value && value.#isIssued
  }
}

/** A send or an edit that the guard let through. */
export type Outbound = Permit

/** True when the guard issued it; the client of the service asks before it sends. */
export const isOutbound = (value: unknown): value is Outbound => Permit.isReal(value)

/** How the chat must be written to; made by `Guard.rule` alone. */
class ChatRule implements PermitGround {
  readonly chatId: number
  readonly body: 'sealed' | 'readable'
  /**
   * False once something was learned that forbids it.
   * @throws Refusal `postern_store_unwritable` when that is not known any more
   */
  readonly holds: () => boolean
  readonly #freshness: Freshness
  readonly #judged = true

  constructor(
    { chatId, body, holds }: Pick<ChatRule, 'chatId' | 'body' | 'holds'>,
    freshness: Freshness,
  ) {
    this.chatId = chatId
    this.body = body
    this.holds = holds
    this.#freshness = freshness
  }

  /**
   * Reads what any sidecar has learned, when the rule is not of just now.
   * @throws Refusal `postern_store_unwritable`
   */
  async renew(): Promise<void> {
    await this.#freshness.renew()
  }

  /** Whether the guard made this rule, for this chat and this kind of body. */
  static allows(rule: unknown, { chatId, body }: Pick<ChatRule, 'chatId' | 'body'>): boolean {
    const isReal = typeof rule === 'object' && rule !== null && #judged in rule && rule.#judged
    return isReal && rule.body === body && rule.chatId === chatId
  }
}
export type Rule = ChatRule

/** The fields of a send or an edit, beside its body. */
export interface BodyFields {
  chatId: number
  [name: string]: unknown
}

/** A sealed body may go wherever the chat goes: no later answer of the service forbids it. */
const always = (): boolean => true
const nothingToRenew = (): Promise<void> => Promise.resolve()

export interface GuardParts {
  time: Time
  /** Brings what is remembered up to what any sidecar has seen (`Store.fresh`). */
  fresh: () => Promise<void>
  /**
   * How old that may be when readable text is written to a connection, in ms; Infinity where no other
   * sidecar learns anything.
   */
  freshForMs: number
  knownChats: KnownChats
  modes: ModeLookups
  /**
   * Whether there is a key of ours, or will be: from the first on, private chats are protected
   * whatever the service says.
   */
  ownsKey(): boolean
  /** False for a sidecar without a key: then the service's word for open is taken as it is. */
  sealsForBot: boolean
  /** Setting `readableGroups`. */
  readableGroups: 'allow' | 'refuse'
  /** Setting `cache.chatSeconds`, in ms. */
  chatMaxAgeMs: number
}

export class Guard {
  readonly #parts: GuardParts

  constructor(parts: GuardParts) {
    this.#parts = parts
  }

  /**
   * How a chat must be written to. Readable only by an answer of the service that is no older than
   * the setting; what was seen private or protected is never asked.
   * @throws Refusal `postern_downgrade_refused`, `postern_store_unwritable`; ServiceError and
   *   NoResponseError when the mode cannot be learned
   */
  async rule(chatId: number): Promise<Rule> {
    const { knownChats, modes, chatMaxAgeMs, freshForMs } = this.#parts
    const { time } = this.#parts
    const freshness = new Freshness(this.#parts.fresh, time)
    await freshness.renew()
    const sealed = new ChatRule({ chatId, body: 'sealed', holds: always }, freshness)
    if (this.mustSeal(chatId)) return sealed
    const answer = await modes.get(chatId, time.monotonicMs() - chatMaxAgeMs)
    if (this.mustSeal(chatId) || answer.mode === 'protected') return sealed
    // it may be seen as a group at any time since the answer
    const whyNot = (): string | null =>
      this.#whyNotReadable(
        { ...answer, kind: knownChats.get(chatId)?.kind ?? answer.kind },
        this.#parts,
      )
    const refused = whyNot()
    if (refused !== null) {
      await knownChats.refused(chatId)
      throw new Refusal('postern_downgrade_refused', refused)
    }
    const holds = (): boolean => {
      freshness.requireWithin(freshForMs)
      return !this.mustSeal(chatId) && whyNot() === null
    }
    return new ChatRule({ chatId, body: 'readable', holds }, freshness)
  }

  /** Whether a chat takes no readable text by what we remember of it. */
  mustSeal(chatId: number): boolean {
    const { knownChats } = this.#parts
    return (
      knownChats.isLatched(chatId) || (knownChats.isPrivate(chatId) && this.#isPrivateProtected())
    )
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

  /** Why readable text will be refused once there is a key; null when it may leave. */
  whyNotReadable(chatId: number, answer: ModeAnswer): string | null {
    const kind = this.#parts.knownChats.get(chatId)?.kind ?? answer.kind
    const { readableGroups } = this.#parts
    return this.#whyNotReadable({ ...answer, kind }, { readableGroups, sealsForBot: true })
  }

  /** True without a key, now or ever: then whatever the bot sends is between it and the service. */
  get passesAll(): boolean {
    return !this.#parts.sealsForBot && !this.#isPrivateProtected()
  }

  /**
   * Lets what sealing made leave, beside the other fields of the send or edit.
   * @param requireHeld called before every attempt: throws a Refusal once the key that signed may
   *   not be the published one any more
   * @throws Refusal `postern_downgrade_refused` without a rule for it, `bad_request` when it is not
   *   what sealing made
   */
  permitSealed(
    rule: Rule,
    target: PermitTarget,
    {
      fields,
      sealed,
      requireHeld,
    }: { fields: BodyFields; sealed: Sealed; requireHeld: () => void },
  ): Outbound {
    requireRule(rule, fields.chatId, 'sealed')
    if (!Sealed.isReal(sealed)) throw notSealed()
    // A hundred thousand characters that are ready for JSON are not gone through once more.
    const start = Buffer.from(`${JSON.stringify(bodiless(fields)).slice(0, -1)},"armored":"`)
    const holds = (): boolean => {
      requireHeld()
      return rule.holds()
    }
    const ground = { holds, renew: nothingToRenew }
    return new Permit(target, Buffer.concat([start, ...sealed.json, Buffer.from('"}')]), ground)
  }

  /**
   * Lets what a bot sealed by itself leave. Where there was ever a key of ours, it must be an
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
    const ground = { holds: rule.holds, renew: nothingToRenew }
    return new Permit(target, json({ ...bodiless(fields), armored }), ground)
  }

  /**
   * Lets readable text leave, for a chat that the guard ruled readable.
   * @throws Refusal `postern_downgrade_refused` without a rule for it
   */
  permitReadable(rule: Rule, target: PermitTarget, fields: BodyFields): Outbound {
    requireRule(rule, fields.chatId, 'readable')
    return new Permit(target, json(fields), rule)
  }

  /** Lets an edit of the buttons alone leave: it has no body, and buttons are never encrypted. */
  permitMarkup(target: PermitTarget, { chatId, markup }: BodyFields): Outbound {
    return new Permit(target, json({ chatId, markup }), { holds: always, renew: nothingToRenew })
  }

  #whyNotReadable(
    answer: { kind: string; historyVisible: boolean },
    { readableGroups, sealsForBot }: Pick<GuardParts, 'readableGroups' | 'sealsForBot'>,
  ): string | null {
    if (readableGroups === 'refuse') return 'the setting readableGroups refuses it'
    if (answer.kind === 'private' || answer.kind === 'channel') return null
    if (answer.kind !== 'group' && sealsForBot) {
      return 'the chat is of a kind that is not known'
    }
    if (!sealsForBot || answer.historyVisible) return null
    return 'the group claims to be open without an open history'
  }
}

function requireRule(rule: Rule, chatId: number, body: Rule['body']): void {
  if (!ChatRule.allows(rule, { chatId, body })) throw new Refusal('postern_downgrade_refused')
}

/** The other fields of a send whose body is sealed. @throws Refusal `bad_request` for a body */
function bodiless(fields: BodyFields): BodyFields {
  if ('text' in fields || 'armored' in fields) throw notSealed()
  return fields
}

function notSealed(): Refusal {
  return new Refusal('bad_request', 'armored: must be an OpenPGP message')
}

function json(fields: Record<string, unknown>): Buffer {
  return Buffer.from(JSON.stringify(fields))
}
