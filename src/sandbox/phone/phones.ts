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

/** People's phones; each is made when first asked for, the engine with the first of them. */
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

  /** Switches on the phones of an earlier run. */
  async restore(): Promise<void> {
    await Promise.all([...this.#identities.keys()].map((userId) => this.of(userId)))
  }

  /**
   * A person's phone; making it makes and publishes the person's key.
   * @param kind of that key; of no meaning to a phone that has one
   * @throws Error when nobody has the id
   */
  of(userId: number, kind: KeyKind = 'curve25519'): Promise<Phone> {
    const known = this.#phones.get(userId)
    if (known !== undefined) return known
    const person = this.#world.people.get(userId)
    if (person === undefined) return Promise.reject(new Error(`no person has the id ${userId}`))
    const made = this.#make(person, kind)
    this.#phones.set(userId, made)
    return made
  }

  /** A new key takes the place of the old one, which still opens what was sealed to it. */
  async renew(userId: number, kind: KeyKind = 'curve25519'): Promise<Phone> {
    const phone = await this.of(userId, kind)
    const person = this.#world.people.get(userId)
    const engine = await (this.#engine ??= startEngine())
    if (person === undefined) throw new Error(`no person has the id ${userId}`)
    const made = await newIdentity(engine, { name: person.firstName, kind })
    const { key, former } = phone.identity
    phone.identity = { ...made, former: [key, ...former] }
    this.#identities.set(userId, phone.identity)
    publish(this.#world, person, phone.identity)
    return phone
  }

  async #make(person: PersonState, kind: KeyKind): Promise<Phone> {
    const { id: userId, firstName: name } = person
    const engine = await (this.#engine ??= startEngine())
    const kept = this.#identities.get(userId)
    const identity = kept ?? (await newIdentity(engine, { name, kind }))
    const line = new PhoneConnection(this.#world, userId)
    const notes = openPhoneMemory(this.#world.persistence, userId)
    const phone = new Phone({ userId, engine, identity, line, notes })
    this.#world.listen((event) => phone.receive(event))
    if (kept === undefined) {
      this.#identities.set(userId, identity)
      publish(this.#world, person, identity)
    }
    return phone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const phones = await Promise.allSettled(this.#phones.values())
    await (await this.#engine)?.[Symbol.asyncDispose]()
    // Keys that a file keeps are in use there.
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

/** OpenPGP is loaded with the first phone: a world in which nobody has one starts without it. */
async function startEngine(): Promise<Engine> {
  const { createEngine } = await import('../../pgp/create.ts')
  return createEngine({ threads: 1 })
}
