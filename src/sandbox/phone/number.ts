import crypto from 'node:crypto'
import { promisify } from 'node:util'
import type { z } from 'zod'
import type { SafetyNumber } from '../control/results.ts'
import type { MessageReader } from './read.ts'

/** What a phone shows, so that two people can compare their certificates by voice. */
export type ShownNumber = z.output<typeof SafetyNumber>

/** An account and the fingerprint of its certificate. */
type Party = readonly [id: number, fingerprint: string]

const pbkdf2 = promisify(crypto.pbkdf2)

/**
 * The number of a phone's own certificate and the one that another account published, whose
 * fingerprint the phone computes. Null where the other has none of version 4.
 */
export async function numberWith(
  { engine, identity, connection }: MessageReader,
  { ownId, otherId }: { ownId: number; otherId: number },
): Promise<ShownNumber | null> {
  const published = connection.publishedKeyOf(otherId)
  if (published === null) return null
  const { fingerprint } = await engine.judge(published.publicKey)
  const own = identity.key.fingerprint
  if (fingerprint?.length !== 40 || own.length !== 40) return null
  return await numberOf([ownId, own], [otherId, fingerprint])
}

/** As the README of `src/operators/trust` describes it. */
export async function numberOf(one: Party, other: Party): Promise<ShownNumber> {
  const halves = [await halfOf(one), await halfOf(other)]
  const parties = one[0] < other[0] ? [one, other] : [other, one]
  const text = `POSTERN-NUMBER:1:${parties.flat().join(':')}`.toUpperCase()
  return { digits: halves.toSorted().join(''), text }
}

async function halfOf([id, fingerprint]: Party): Promise<string> {
  const secret = `${id}:${fingerprint.toLowerCase()}`
  const half = await pbkdf2(secret, 'postern-number:1', 10_000, 30, 'sha512')
  const groups = [0, 5, 10, 15, 20, 25].map((at) => half.readUIntBE(at, 5) % 100_000)
  return groups.map((group) => String(group).padStart(5, '0')).join('')
}
