import { randomBytes } from 'node:crypto'
import { createEngine } from '../pgp/create.ts'
import type { Engine } from '../pgp/engine.ts'
import { PhoneLine } from './phone-line.ts'
import { Phone } from './phone.ts'
import type { Identity } from './phone-seal.ts'
import { setPersonKey } from './rules/keys.ts'
import type { PersonState } from './state.ts'
import type { World } from './world.ts'

/** A key is dated back, so that nobody whose clock is a little behind finds it in the future. */
const BACKDATED_MS = 300_000

/**
 * Phones that nobody uses any more, by their person's name: making a key takes half a second, so
 * the next sandbox of this process hands them out again.
 */
const drawer = new Map<string, Identity[]>()

/** People's phones; each is made when first asked for, the engine with the first of them. */
export class Phones {
  readonly #world: World
  readonly #phones = new Map<number, Promise<Phone>>()
  readonly #identities: { name: string; identity: Identity }[] = []
  #engine: Engine | null = null

  constructor(world: World) {
    this.#world = world
  }

  /**
   * A person's phone; making it makes and publishes the person's key.
   * @throws Error when nobody has the id
   */
  of(userId: number): Promise<Phone> {
    const known = this.#phones.get(userId)
    if (known !== undefined) return known
    const person = this.#world.people.get(userId)
    if (person === undefined) return Promise.reject(new Error(`no person has the id ${userId}`))
    const made = this.#make(person)
    this.#phones.set(userId, made)
    return made
  }

  async #make(person: PersonState): Promise<Phone> {
    const { id: userId, firstName: name } = person
    this.#engine ??= createEngine({ threads: 1 })
    const identity = drawer.get(name)?.pop() ?? (await makeIdentity(this.#engine, name))
    this.#identities.push({ name, identity })
    const line = new PhoneLine(this.#world, userId)
    const phone = new Phone({ userId, engine: this.#engine, identity, line })
    this.#world.listen((event) => phone.receive(event))
    setPersonKey(this.#world, person, {
      fingerprint: identity.key.fingerprint,
      publicKey: identity.certificate,
    })
    return phone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#phones.values())
    await this.#engine?.[Symbol.asyncDispose]()
    for (const { name, identity } of this.#identities.splice(0)) {
      drawer.set(name, [...(drawer.get(name) ?? []), identity])
    }
  }
}

async function makeIdentity(engine: Engine, name: string): Promise<Identity> {
  const passphrase = randomBytes(24).toString('base64url')
  const own = await engine.generate({
    userId: name,
    createdMs: Date.now() - BACKDATED_MS,
    passphrase,
  })
  return { certificate: own.certificate, key: await engine.unlock(own.locked, passphrase) }
}
