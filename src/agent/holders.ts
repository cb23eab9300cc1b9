/** Connects to the holder of the secret keys that `key.agent` names. */
import type { HolderState, KeyHolder } from '../openpgp/index.ts'
import { AgentClient } from './client.ts'
import { GpgAgent } from './gpg-agent.ts'
import { Pkcs11Token, readTokenPlace } from './pkcs11.ts'

/** A holder whose state is known at any time. */
export interface StatefulHolder extends KeyHolder {
  readonly state: HolderState
}

/** The PIN of a token; null where it needs none. */
export type TokenPin = { reveal(): string } | null

/** By the beginning of the address; null for another form of it. */
const KINDS: Readonly<Record<string, (place: string, pin: TokenPin) => StatefulHolder | null>> = {
  'unix:': (path) => new AgentClient(path),
  'gpg-agent:': (path) => new GpgAgent(path),
  'pkcs11:': (text, pin) => {
    const place = readTokenPlace(text)
    return place && new Pkcs11Token(place, pin)
  },
}

/** Bots of one process share a connection. */
const shared = new Map<string, { holder: StatefulHolder; users: number }>()

/**
 * Connects to a holder, which may be away for now.
 * @param address setting `key.agent`
 * @param pin of a PKCS #11 token
 * @returns a holder of the caller's own, to be disposed of
 */
export function connectHolder(address: string, pin: TokenPin = null): StatefulHolder {
  const one = shared.get(address) ?? { holder: newHolder(address, pin), users: 0 }
  shared.set(address, one)
  one.users++
  const { holder } = one
  return {
    sign: (asked) => holder.sign(asked),
    unwrap: (asked) => holder.unwrap(asked),
    make: (asked) => holder.make(asked),
    onReachable: (listener) => holder.onReachable(listener),
    get connection() {
      return holder.connection
    },
    get state() {
      return holder.state
    },
    async [Symbol.asyncDispose]() {
      if (--one.users > 0) return
      shared.delete(address)
      await holder[Symbol.asyncDispose]()
    },
  }
}

function newHolder(address: string, pin: TokenPin): StatefulHolder {
  const [kind, make] = Object.entries(KINDS).find(([begin]) => address.startsWith(begin)) ?? []
  const holder = make?.(address.slice(kind?.length), pin) ?? null
  if (holder === null) throw new Error('an address of no known kind')
  return holder
}
