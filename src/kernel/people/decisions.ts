import { OperatorError, refusedError } from '../../errors.ts'
import type { Memory, Pin, Records } from '../memory.ts'
import type { Journal, TrustChange } from './journal.ts'
import type { People } from './people.ts'
import { blankPin, type Pins } from './pins.ts'

/** What a verification rests on, beside the operator's word. */
interface VerifiedBy {
  comparedWith?: string
  listedBy?: string
}

export interface DecisionParts {
  memory: Memory
  journal: Journal
  people: People
  pins: Pins
}

/** The operator's decisions about people. All calls throw Refusal `postern_store_unwritable`. */
export class Decisions {
  readonly #parts: DecisionParts

  constructor(parts: DecisionParts) {
    this.#parts = parts
  }

  /**
   * Accepts a person's certificate as it is listed now, as theirs alone, and forgets their signatures.
   * @param fingerprint which the operator has read; absent: the listed one
   * @returns the new pin
   * @throws OperatorError `refused` for an unknown person, or when another one is listed now
   */
  async accept(userId: number, fingerprint?: string): Promise<Pin> {
    return await this.#recordDecision('accepted', () => {
      const pin = this.#parts.pins.get(userId)
      const listed = pin?.listed ?? null
      if (pin === undefined || listed === null) throw noneListed(userId)
      if (fingerprint !== undefined && readFingerprint(fingerprint) !== listed) {
        throw refusedError(
          `the service lists ${listed} for person ${userId}, which is another one`,
          'ask the person which fingerprint is theirs; nothing was changed',
        )
      }
      const isVerified = pin.standing === 'verified' && pin.fingerprint === listed
      const standing = isVerified ? 'verified' : 'accepted'
      return { ...pin, fingerprint: listed, standing }
    })
  }

  /**
   * Verifies a fingerprint, which the operator has compared with the person: it is theirs alone, and
   * nothing is sealed to another one of theirs.
   * @param fingerprint 40 hexadecimal characters; blanks between and either case are fine
   * @param by `comparedWith`: the bot's fingerprint, where a number of both was compared; `listedBy`:
   *   the signer of the list that it is from; neither lifts a block
   * @throws OperatorError `usage` when it is none
   */
  async verify(userId: number, fingerprint: string, by: VerifiedBy = {}): Promise<Pin> {
    const compared = readFingerprint(fingerprint)
    const decide = (): Pin => {
      const pin = this.#parts.pins.get(userId) ?? blankPin(userId)
      const isOther = pin.standing === 'blocked' || pin.fingerprint !== compared
      if (by.comparedWith !== undefined) this.requireComparable(userId)
      if (by.listedBy !== undefined && pin.standing !== 'seen' && isOther) {
        throw refusedError(`person ${userId} is decided otherwise`, 'a list changes no decision')
      }
      return { ...pin, fingerprint: compared, standing: 'verified' }
    }
    return await this.#recordDecision('verified', decide, by)
  }

  /** Asked before a number is compared, too. @throws OperatorError `refused`: it lifts no block */
  requireComparable(userId: number): void {
    if (this.#parts.pins.get(userId)?.standing !== 'blocked') return
    const hint = '`postern trust accept` does; compare after it'
    throw refusedError(`person ${userId} is blocked, and a number does not end that`, hint)
  }

  /** Ends sealing to a person and trust in them until they are accepted or verified. */
  async block(userId: number): Promise<Pin> {
    return await this.#recordDecision('blocked', () => {
      return { ...(this.#parts.pins.get(userId) ?? blankPin(userId)), standing: 'blocked' }
    })
  }

  /** @param decide the new pin by the present one; throws a refusal */
  async #recordDecision(
    kind: 'accepted' | 'verified' | 'blocked',
    decide: () => Pin,
    by: VerifiedBy = {},
  ): Promise<Pin> {
    let pin = decide()
    const changeOf = (): TrustChange => {
      const { userId, fingerprint } = ownerIn(pin)
      return kind === 'blocked'
        ? { kind, userId, detail: {} }
        : { kind, userId, detail: { fingerprint, ...by } }
    }
    const write = async ({ pins, certificates, signers }: Records): Promise<TrustChange[]> => {
      pin = { ...decide(), sinceMs: this.#parts.memory.nowMs() }
      await pins.save([pin])
      if (kind !== 'blocked') await certificates.setOwner(ownerIn(pin).fingerprint, pin.userId)
      const alias = this.#parts.people.forgotten?.aliasOf(pin.userId)
      if (kind === 'accepted') await signers.forget(pin.userId, alias)
      return [changeOf()]
    }
    await this.#parts.journal.record([changeOf()], write, () => {
      if (kind !== 'blocked') this.#parts.people.ownerSaved(ownerIn(pin))
      if (kind === 'accepted') this.#parts.people.signedForgotten(pin.userId)
      this.#parts.pins.set(pin)
    })
    return pin
  }
}

const ownerIn = ({ userId, fingerprint }: Pin): { userId: number; fingerprint: string } => ({
  userId,
  fingerprint: fingerprint ?? '',
})

function readFingerprint(text: string): string {
  const fingerprint = text.replaceAll(/\s/g, '').toLowerCase()
  if (/^[0-9a-f]{40}$/.test(fingerprint)) return fingerprint
  throw new OperatorError(
    'usage',
    'a fingerprint is 40 hexadecimal characters',
    'copy it from the person’s app; blanks between are fine',
  )
}

const noneListed = (userId: number): OperatorError =>
  refusedError(
    `the service lists no certificate of person ${userId} now, as far as was ever seen`,
    '`postern trust list` shows everybody whom we know; or compare fingerprints and use `postern trust verify`',
  )
