import { randomBytes } from 'node:crypto'
import type { Engine } from '../pgp/engine.ts'
import type { KeyKind } from '../pgp/library/key-kinds.ts'
import type { Kind } from './keep/keep.ts'
import type { Identity } from './phone-seal.ts'

export type { KeyKind } from '../pgp/library/key-kinds.ts'

/** Kinds of key that a phone can have; the first is what phones usually make. */
export const PHONE_KEYS = [
  'curve25519',
  'x25519',
  'p256',
  'rsa3072',
  'expired',
  'revoked',
  'sign-only',
  'v6',
] as const satisfies readonly KeyKind[]

/** A key is dated back, so that nobody whose clock is a little behind finds it in the future. */
const BACKDATED_MS = 300_000

/**
 * Keys that nobody uses any more, by their person's name: making one takes half a second, so the
 * next sandbox of this process hands them out again.
 */
const drawer = new Map<string, Identity[]>()

/** A key for a phone that never had one. OpenPGP programs show `name` as its user id. */
export async function newIdentity(
  engine: Engine,
  { name, kind }: { name: string; kind: KeyKind },
): Promise<Identity> {
  if (kind === 'curve25519') return drawer.get(name)?.pop() ?? (await usual(engine, name))
  const { makeKey } = await import('../pgp/library/key-kinds.ts')
  return { ...(await makeKey({ userId: name, kind, createdMs: dated() })), kind, former: [] }
}

/** Puts a usual key aside for the next phone of that name. */
export function putAside(name: string, { kind, ...identity }: Identity): void {
  if (kind !== 'curve25519') return
  drawer.set(name, [...(drawer.get(name) ?? []), { ...identity, kind, former: [] }])
}

async function usual(engine: Engine, name: string): Promise<Identity> {
  const passphrase = randomBytes(24).toString('base64url')
  const own = await engine.generate({ userId: name, createdMs: dated(), passphrase })
  const key = await engine.unlock(own.locked, passphrase)
  return { certificate: own.certificate, key, kind: 'curve25519', former: [] }
}

const dated = (): number => Date.now() - BACKDATED_MS

type WrittenKey = Omit<Identity['key'], 'bytes'> & { bytes: string }

/** How a phone's keys are kept: unlocked, as the file is for its owner alone. */
export const IDENTITY: Kind<Identity> = {
  name: 'phone',
  write: ({ key, former, ...rest }) => ({
    ...rest,
    key: written(key),
    former: former.map(written),
  }),
  read: (stored) => {
    const { key, former, ...rest } = stored as WrittenIdentity
    return { ...rest, key: read(key), former: former.map(read) }
  },
}

type WrittenIdentity = Omit<Identity, 'key' | 'former'> & {
  key: WrittenKey
  former: WrittenKey[]
}

function written(key: Identity['key']): WrittenKey {
  return { ...key, bytes: Buffer.from(key.bytes).toString('base64') }
}

function read(key: WrittenKey): Identity['key'] {
  return { ...key, bytes: Buffer.from(key.bytes, 'base64') }
}
