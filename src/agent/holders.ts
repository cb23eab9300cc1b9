/** Connects to the holder of the secret keys that `key.agent` names. */
import type { HolderState, KeyHolder } from '../openpgp/index.ts'
import { AgentClient } from './client.ts'

/** A holder whose state is known at any time. */
export interface StatefulHolder extends KeyHolder {
  readonly state: HolderState
}

/** By the beginning of the address. */
const KINDS: Readonly<Record<string, (place: string) => StatefulHolder>> = {
  'unix:': (path) => new AgentClient(path),
}

interface SharedHolder {
  holder: StatefulHolder
  users: number
}

/** Bots of one process share a connection. */
const shared = new Map<string, SharedHolder>()

/**
 * Connects to a holder, which may be away for now.
 * @param address setting `key.agent`
 * @returns a holder of the caller's own, to be disposed of
 */
export function connectHolder(address: string): StatefulHolder {
  const one = shared.get(address) ?? { holder: newHolder(address), users: 0 }
  shared.set(address, one)
  one.users++
  const { holder } = one
  return {
    sign: (asked) => holder.sign(asked),
    unwrap: (asked) => holder.unwrap(asked),
    make: (asked) => holder.make(asked),
    onReachable: (listener) => holder.onReachable(listener),
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

function newHolder(address: string): StatefulHolder {
  const [kind, make] = Object.entries(KINDS).find(([begin]) => address.startsWith(begin)) ?? []
  if (kind === undefined || make === undefined) throw new Error('an address of no known kind')
  return make(address.slice(kind.length))
}
