import { ServiceError } from '../../src/errors.ts'
import { Keyring, type KeyringOptions } from '../../src/keys/keyring.ts'
import type { Engine } from '../../src/openpgp/engine.ts'
import { memoryOf } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { SYSTEM_TIME } from '../../src/util/clock.ts'

/** The keyring of a store; an old key opens for a day, and nobody tells the service's time. */
export const loadKeyring = (store: Store, engine: Engine, over: Partial<KeyringOptions> = {}) =>
  Keyring.load(memoryOf(store), engine, {
    retainMs: 86_400_000,
    time: SYSTEM_TIME,
    serviceNowMs: () => null,
    ...over,
  })

/** What the service refuses with; its words do not matter here. */
export function serviceError(status: number, retryAfterSeconds?: number): ServiceError {
  const answer = { status, headers: {}, body: Buffer.alloc(0) }
  return new ServiceError({ code: `refused_${status}`, status, retryAfterSeconds, answer })
}
