import { IDENTITY_KIND, keysOf, type KeyKind, type PhoneIdentity } from './keys.ts'
import { makeCommonKey } from './make-key.ts'
import { connectPhone } from './connection.ts'
import { Phone } from './phone.ts'
import { finderIn } from '../control/find.ts'
import { setKey } from '../rules/keys.ts'
import type { World } from '../world.ts'
import { createEngine, type Engine } from '../../openpgp/index.ts'

/** Keys are dated back, so that they do not lie in the future for a clock that is a little behind. */
const BACKDATED_MS = 300_000

export type Phones = ReturnType<typeof phonesOf>

/** The phones of a world's people. Each is made on first use. */
export function phonesOf(world: World, engines: SharedEngine) {
  const phones = new Map<number, Promise<Phone>>()
  /** By person. */
  const identities = world.persistence.map<number, PhoneIdentity>(IDENTITY_KIND)

  const { person: personOf } = finderIn(world)

  const newIdentity = async (
    userId: number,
    kind: KeyKind = 'curve25519',
  ): Promise<PhoneIdentity> => {
    // the usual kind is made without openpgp.js, which is slow to load and large
    const makeKey =
      kind === 'curve25519' ? makeCommonKey : (await import('./library-keys.ts')).makeKey
    const createdMs = Math.min(Date.now(), world.clock.now()) - BACKDATED_MS
    const made = await makeKey({ userId: personOf(userId).firstName, kind, createdMs })
    return { ...made, kind, former: [] }
  }

  const publish = (userId: number, identity: PhoneIdentity): void => {
    identities.set(userId, identity)
    const { key, certificate: publicKey } = identity
    setKey(world, personOf(userId), { fingerprint: key.fingerprint, publicKey })
  }

  const make = async (userId: number, kind: KeyKind | undefined): Promise<Phone> => {
    const { clock, persistence } = world
    const engine = engines.get(clock)
    const stored = identities.get(userId)
    const identity = stored ?? (await newIdentity(userId, kind))
    if (stored?.isUnused === true) identities.set(userId, { ...stored, isUnused: false })
    const connection = connectPhone(world, userId)
    const phone = new Phone({ userId, engine, identity, connection, persistence })
    world.onEvent((event) => phone.receive(event))
    if (stored === undefined) publish(userId, identity)
    return phone
  }

  /**
   * A person's phone. Making it generates and publishes the person's key.
   * @param kind of that key; ignored when the phone exists
   * @throws ControlError when nobody has the id
   */
  const of = async (userId: number, kind?: KeyKind): Promise<Phone> => {
    const existing = phones.get(userId)
    if (existing !== undefined) return await existing
    personOf(userId)
    const phone = make(userId, kind)
    phones.set(userId, phone)
    return await phone
  }

  return {
    of,
    /** Makes and publishes a person's key. The phone is made on first use, and shows nothing before. */
    prepare: async (userId: number, kind?: KeyKind): Promise<void> =>
      publish(userId, { ...(await newIdentity(userId, kind)), isUnused: true }),
    /** Makes the phones whose keys are stored from an earlier run, and which were used. */
    restore: async (): Promise<void> => {
      const used = [...identities].filter(([, { isUnused }]) => isUnused !== true)
      await Promise.all(used.map(([userId]) => of(userId)))
    },
    /** Whether the person has a phone. */
    has: (userId: number): boolean => phones.has(userId) || identities.has(userId),
    /** Generates and publishes a new key. The old one still opens messages sealed to it. */
    renew: async (userId: number, kind?: KeyKind): Promise<Phone> => {
      const phone = await of(userId, kind)
      const renewed = await newIdentity(userId, kind)
      phone.identity = { ...renewed, former: keysOf(phone.identity) }
      publish(userId, phone.identity)
      return phone
    },
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
