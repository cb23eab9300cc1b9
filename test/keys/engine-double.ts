/** An engine whose keys are texts: what is locked says under what. */
import type { Engine, UnlockedKey } from '../../src/openpgp/engine.ts'
import { printOf, statusOf } from '../kernel/people/people-scene.ts'

/** The locked secret key of a fingerprint. */
export const lockedUnder = (print: string, passphrase: string): string =>
  `${print} under ${passphrase}`
export const certificateOf = (print: string): string => `certificate ${print}`

/** The key that a locked one holds. */
export const unlockedOf = (print: string): UnlockedKey => ({
  fingerprint: print,
  fingerprints: [print, `subkey of ${print}`],
  keyIds: [],
  bytes: Uint8Array.of(1, 2, 3),
  sizes: { recipient: { aes256: 96, aes128: 80 }, signature: 100 },
})

function reveal(locked: string, passphrase: string): string {
  const [print = '', under] = locked.split(' under ')
  if (under !== passphrase) throw new Error('wrong-passphrase')
  return print
}

/** Keys are named `key1`, `key2` and so on. @param over what it does otherwise */
export function engineDouble(over: Partial<Engine> = {}): Engine {
  let made = 0
  const engine: Partial<Engine> = {
    generate: async ({ passphrase }) => {
      const fingerprint = printOf(`key${++made}`)
      const certificate = certificateOf(fingerprint)
      return { fingerprint, certificate, locked: lockedUnder(fingerprint, passphrase) }
    },
    unlock: async (locked, passphrase) => unlockedOf(reveal(locked, passphrase)),
    relock: async (locked, { from, to, isRandom }) =>
      `${lockedUnder(reveal(locked, from), to)}${isRandom === true ? '' : ', slowly'}`,
    judge: async (armored) => {
      const fingerprint = armored.split(' ')[1] ?? null
      return statusOf('', { fingerprint, armored, encryptionKeys: [`subkey of ${fingerprint}`] })
    },
    seal: async ({ text }) => `sealed ${text}`,
    open: async (armored) => ({ outcome: 'opened', text: armored.slice(7), signed: {} }) as never,
    verify: async () => ['valid'],
    ...over,
  }
  return engine as Engine
}
