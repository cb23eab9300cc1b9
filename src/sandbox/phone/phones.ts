import { IDENTITY_KIND, keysOf, type KeyKind, type PhoneIdentity } from './keys.ts'
import { makeCommonKey } from './make-key.ts'
import { connectPhone } from './connection.ts'
import { Phone } from './phone.ts'
import { setKey } from '../rules/keys.ts'
import type { PersonState } from '../state.ts'
import type { World } from '../world.ts'
import { createEngine, type Engine } from '../../openpgp/index.ts'

/** Keys are dated back, so that they do not lie in the future for a clock that is a little behind. */
const BACKDATED_MS = 300_000

/** The phones of a world's people. Each is made on first use. */
export class Phones {
  readonly #world: World
  readonly #phones = new Map<number, Promise<Phone>>()
  /** By person. */
  readonly #identities: Map<number, PhoneIdentity>
  readonly #engine: SharedEngine

  constructor(world: World, engine: SharedEngine) {
    this.#world = world
    this.#engine = engine
    this.#identities = world.persistence.map(IDENTITY_KIND)
  }

  /** Makes the phones whose keys are stored from an earlier run. */
  async restore(): Promise<void> {
    await Promise.all([...this.#identities.keys()].map((userId) => this.of(userId)))
  }

  /** Whether the person's phone was made. */
  has(userId: number): boolean {
    return this.#phones.has(userId)
  }

  /**
   * A person's phone. Making it generates and publishes the person's key.
   * @param kind of that key; ignored when the phone exists
   * @throws Error when nobody has the id
   */
  async of(userId: number, kind: KeyKind = 'curve25519'): Promise<Phone> {
    const existing = this.#phones.get(userId)
    if (existing !== undefined) return await existing
    this.#person(userId)
    const phone = this.#make(userId, kind)
    this.#phones.set(userId, phone)
    return await phone
  }

  /** Generates and publishes a new key. The old one still opens messages sealed to it. */
  async renew(userId: number, kind: KeyKind = 'curve25519'): Promise<Phone> {
    const phone = await this.of(userId, kind)
    const renewed = await this.#newIdentity(userId, kind)
    phone.identity = { ...renewed, former: keysOf(phone.identity) }
    this.#publish(userId, phone.identity)
    return phone
  }

  async #make(userId: number, kind: KeyKind): Promise<Phone> {
    const { clock, persistence } = this.#world
    const engine = this.#engine.get(clock)
    const stored = this.#identities.get(userId)
    const identity = stored ?? (await this.#newIdentity(userId, kind))
    const connection = connectPhone(this.#world, userId)
    const phone = new Phone({ userId, engine, identity, connection, persistence })
    this.#world.onEvent((event) => phone.receive(event))
    if (stored === undefined) this.#publish(userId, identity)
    return phone
  }

  #person(userId: number): PersonState {
    const person = this.#world.people.get(userId)
    if (person === undefined) throw new Error(`no person has the id ${userId}`)
    return person
  }

  async #newIdentity(userId: number, kind: KeyKind): Promise<PhoneIdentity> {
    // the usual kind is made without openpgp.js, which is slow to load and large
    const makeKey =
      kind === 'curve25519' ? makeCommonKey : (await import('./library-keys.ts')).makeKey
    const createdMs = Math.min(Date.now(), this.#world.clock.now()) - BACKDATED_MS
    const made = await makeKey({ userId: this.#person(userId).firstName, kind, createdMs })
    return { ...made, kind, former: [] }
  }

  #publish(userId: number, identity: PhoneIdentity): void {
    this.#identities.set(userId, identity)
    const { key, certificate: publicKey } = identity
    setKey(this.#world, this.#person(userId), { fingerprint: key.fingerprint, publicKey })
  }
}

/** The one OpenPGP engine of a sandbox's phones, in all its worlds. It is made when first used. */
export class SharedEngine implements AsyncDisposable {
  #engine: Engine | null = null
  /** Of worlds with phones. A bot's key may be dated by the time of its machine, or by theirs. */
  readonly #clocks = new Set<{ now(): number }>()

  /** @param clock of the world that asks */
  get(clock: { now(): number }): Engine {
    this.#clocks.add(clock)
    const nowMs = (): number => Math.max(Date.now(), ...[...this.#clocks].map((one) => one.now()))
    this.#engine ??= createEngine({ threads: 1, nowMs })
    return this.#engine
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine?.[Symbol.asyncDispose]()
  }
}
