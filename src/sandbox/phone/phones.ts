import type { Engine } from '../../pgp/engine.ts'
import { IN_MEMORY } from '../persistence/persistence.ts'
import { IDENTITY_KIND, newIdentity, returnToPool, type KeyKind } from './keys.ts'
import { PhoneConnection } from './connection.ts'
import { openPhoneMemory } from './memory.ts'
import { Phone } from './phone.ts'
import type { PhoneIdentity } from './seal.ts'
import { setPersonKey } from '../rules/keys.ts'
import type { PersonState } from '../state.ts'
import type { World } from '../world.ts'

/** People's phones. Each is made on first use, and the OpenPGP engine with the first of them. */
export class Phones {
  readonly #world: World
  readonly #phones = new Map<number, Promise<Phone>>()
  /** By person. */
  readonly #identities: Map<number, PhoneIdentity>
  #engine: Promise<Engine> | null = null

  constructor(world: World) {
    this.#world = world
    this.#identities = world.persistence.map(IDENTITY_KIND)
  }

  /** Makes the phones whose keys are stored from an earlier run. */
  async restore(): Promise<void> {
    await Promise.all([...this.#identities.keys()].map((userId) => this.of(userId)))
  }

  /**
   * A person's phone. Making it generates and publishes the person's key.
   * @param kind of that key; ignored when the phone exists
   * @throws Error when nobody has the id
   */
  of(userId: number, kind: KeyKind = 'curve25519'): Promise<Phone> {
    const existing = this.#phones.get(userId)
    if (existing !== undefined) return existing
    const person = this.#world.people.get(userId)
    if (person === undefined) return Promise.reject(new Error(`no person has the id ${userId}`))
    const phone = this.#make(person, kind)
    this.#phones.set(userId, phone)
    return phone
  }

  /** Generates and publishes a new key. The old one still opens what was sealed to it. */
  async renew(userId: number, kind: KeyKind = 'curve25519'): Promise<Phone> {
    const phone = await this.of(userId, kind)
    const person = this.#world.people.get(userId)
    const engine = await (this.#engine ??= startEngine())
    if (person === undefined) throw new Error(`no person has the id ${userId}`)
    const renewed = await newIdentity(engine, { name: person.firstName, kind })
    const { key, former } = phone.identity
    phone.identity = { ...renewed, former: [key, ...former] }
    this.#identities.set(userId, phone.identity)
    publish(this.#world, person, phone.identity)
    return phone
  }

  async #make(person: PersonState, kind: KeyKind): Promise<Phone> {
    const { id: userId, firstName: name } = person
    const engine = await (this.#engine ??= startEngine())
    const stored = this.#identities.get(userId)
    const identity = stored ?? (await newIdentity(engine, { name, kind }))
    const connection = new PhoneConnection(this.#world, userId)
    const memory = openPhoneMemory(this.#world.persistence, userId)
    const phone = new Phone({ userId, engine, identity, connection, memory })
    this.#world.onEvent((event) => phone.receive(event))
    if (stored === undefined) {
      this.#identities.set(userId, identity)
      publish(this.#world, person, identity)
    }
    return phone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const phones = await Promise.allSettled(this.#phones.values())
    await (await this.#engine)?.[Symbol.asyncDispose]()
    // Keys that a file stores stay in use.
    if (this.#world.persistence !== IN_MEMORY) return
    for (const phone of phones) {
      if (phone.status !== 'fulfilled') continue
      const { userId, identity } = phone.value
      returnToPool(this.#world.people.get(userId)?.firstName ?? '', identity)
    }
  }
}

function publish(world: World, person: PersonState, { key, certificate }: PhoneIdentity): void {
  setPersonKey(world, person, { fingerprint: key.fingerprint, publicKey: certificate })
}

/** Loads OpenPGP with the first phone, so that a world without phones starts fast. */
async function startEngine(): Promise<Engine> {
  const { createEngine } = await import('../../pgp/create.ts')
  return createEngine({ threads: 1 })
}
