/** A list of recipients as it is sealed to: of each what that needs, and one name for all of it. */
import { hash } from 'node:crypto'
import { holdsAt, type CertificateFacts, type Judged } from './certificate-info.ts'
import type { Gate } from './certificate-cache.ts'
import { writeMembers } from '../crypto/recipient-key.ts'
import type { OwnKey } from './own-keys.ts'
import { hexOf } from '../bytes.ts'

/** Holds from `fromS` on and before `untilS`. */
export interface Roster {
  /** The same for the same recipients in the same order, and the same key of ours. */
  name: string
  /** Who is sealed to natively, as `writeMembers` wrote them; we are among them, last. */
  members: Buffer
  /** Armored certificates of the others, who are the library's to seal to. */
  others: string[]
  /** All of `members` list AES-256 (RFC 9580, 12.1). */
  readAes256: boolean
  fromS: number
  untilS: number
}

type Sealing = NonNullable<OwnKey['seals']>

interface Known {
  roster: Roster
  by: Sealing
  epoch: number
}

/** Rosters by the very list that they are made of, which must not change. */
export class Rosters {
  readonly #gate: Gate
  readonly #known = new WeakMap<readonly string[], Known>()

  constructor(gate: Gate) {
    this.#gate = gate
  }

  /**
   * Gives the roster of armored certificates and our own key: everybody once.
   * @throws Error when any certificate cannot be sealed to: nobody is left out silently
   */
  async of(certificates: readonly string[], by: Sealing): Promise<Roster> {
    const known = this.#known.get(certificates)
    const isCurrent = known?.by === by && known.epoch === this.#gate.epoch
    if (isCurrent && holdsAt(known.roster, Date.now())) return known.roster
    const { epoch } = this.#gate
    const roster = await this.#make(certificates, by)
    this.#known.set(certificates, { roster, by, epoch })
    return roster
  }

  async #make(certificates: readonly string[], by: Sealing): Promise<Roster> {
    const members = new Map<string, Member>()
    for (const one of await this.#membersOf([...new Set(certificates)])) {
      members.set(one.fingerprint, one)
    }
    const own = hexOf(by.facts.fingerprint)
    members.delete(own)
    members.set(own, { fingerprint: own, facts: by.facts })
    return rosterOf([...members.values()], by)
  }

  async #membersOf(texts: string[]): Promise<Member[]> {
    const asked = texts.map((armored) => this.#gate.ask(armored))
    const judged = await Promise.all(asked.filter((one) => one instanceof Promise))
    return asked.map((one) => {
      if (one instanceof Promise) return memberOf(judged.shift())
      return { fingerprint: hexOf(one.fingerprint), facts: one }
    })
  }
}

type Member = { fingerprint: string } & ({ facts: CertificateFacts } | { armored: string })

/** @throws Error when it cannot be sealed to */
function memberOf(judged: Judged | undefined): Member {
  const { fingerprint, unusable, armored } = judged?.judgement ?? {}
  if (!judged || !fingerprint || unusable !== null || armored === undefined) {
    throw new Error('a certificate cannot be sealed to')
  }
  const { facts } = judged
  return facts !== null && holdsAt(facts, Date.now())
    ? { fingerprint, facts }
    : { fingerprint, armored }
}

function rosterOf(everybody: Member[], by: Sealing): Roster {
  const facts = everybody.flatMap((one) => ('facts' in one ? [one.facts] : []))
  const others = everybody.flatMap((one) => ('facts' in one ? [] : [one.armored]))
  const members = writeMembers(facts.map(({ sealing }) => sealing))
  const digests = others.map((armored) => hash('sha256', armored, 'buffer'))
  const all = Buffer.concat([by.signer.fingerprint, members, ...digests])
  return {
    name: hash('sha256', all, 'base64'),
    members,
    others,
    readAes256: facts.every(({ readsAes256 }) => readsAes256),
    fromS: Math.max(...facts.map(({ fromS }) => fromS)),
    untilS: Math.min(...facts.map(({ untilS }) => untilS)),
  }
}
