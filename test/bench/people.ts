import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKey, type PrivateKey, type PublicKey } from 'openpgp'
import { createEngine } from '../../src/pgp/create.ts'
import type { Engine, UnlockedKey } from '../../src/pgp/engine.ts'

/** A bot's key for every contender, and people to seal to. */
export interface Cast extends AsyncDisposable {
  engine: Engine
  signer: UnlockedKey
  signerKey: PrivateKey
  certificates: string[]
  publicKeys: PublicKey[]
}

/** Makes the bot's key and so many people's, all Curve25519 in the legacy encoding. */
export async function makeCast(count: number): Promise<Cast> {
  const engine = createEngine()
  const own = await engine.generate({
    userId: 'bot',
    createdMs: Date.now() - 300_000,
    passphrase: 'x',
  })
  const signer = await engine.unlock(own.locked, 'x')
  const { readPrivateKey } = await import('openpgp')
  const publicKeys: PublicKey[] = []
  for (let index = 0; index < count; index++) {
    const { publicKey } = await generateKey({
      type: 'ecc',
      curve: 'curve25519Legacy',
      userIDs: [{ name: `person ${index}` }],
      date: new Date(Date.now() - 300_000),
      format: 'object',
    })
    publicKeys.push(publicKey)
  }
  return {
    engine,
    signer,
    signerKey: await readPrivateKey({ binaryKey: signer.bytes }),
    certificates: publicKeys.map((key) => key.armor()),
    publicKeys,
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

/** A GnuPG home with the cast in it; null where gpg is not installed. */
export function gpgHome(
  cast: Cast,
): (Disposable & { env: NodeJS.ProcessEnv; args: string[] }) | null {
  if (spawnSync('gpg', ['--version']).status !== 0) return null
  const home = mkdtempSync(join(tmpdir(), 'pb-'))
  const env = { PATH: process.env['PATH'], GNUPGHOME: home }
  const args = ['--batch', '--quiet', '--trust-model', 'always', '--compress-algo', 'none']
  const gpg = (input: string | Uint8Array): void => {
    execFileSync('gpg', [...args, '--import'], { env, input, stdio: ['pipe', 'ignore', 'ignore'] })
  }
  gpg(cast.certificates.join('\n'))
  gpg(cast.signer.bytes)
  writeFileSync(join(home, 'text'), 'x'.repeat(480))
  return {
    env,
    args,
    [Symbol.dispose]: () => {
      spawnSync('gpgconf', ['--kill', 'all'], { env })
      rmSync(home, { recursive: true, force: true })
    },
  }
}
