import { spawn } from 'node:child_process'
import { createMessage, encrypt, readKey } from 'openpgp'
import { compare, type Contender, type Result } from './measure.ts'
import { gpgHome, makeCast, type Cast } from './people.ts'

const TEXT = 'x'.repeat(480)
const COUNTS = [1, 10, 100, 500, 950]

/** Sealing and signing a text of 480 bytes, certificates judged before. */
export async function sealJobs(): Promise<Result[]> {
  await using cast = await makeCast(Math.max(...COUNTS))
  using gpg = gpgHome(cast)
  const results: Result[] = []
  for (const count of COUNTS) {
    const certificates = cast.certificates.slice(0, count)
    const peers = [cached(cast, count), naive(cast, count)]
    if (gpg !== null) peers.push(gpgSeal(cast, count, gpg))
    const rounds = count > 100 ? 5 : 15
    results.push(
      await compare({
        job: `seal-online-${count}`,
        ours: () =>
          cast.engine.seal({ text: TEXT, certificates, signer: cast.signer, cipher: 'aes256' }),
        peers,
        rounds,
        warmups: 2,
      }),
    )
  }
  return results
}

function cached(cast: Cast, count: number): Contender {
  const encryptionKeys = [...cast.publicKeys.slice(0, count), cast.signerKey.toPublic()]
  return { name: 'openpgpjs-cached', run: () => sealPlainly(cast, encryptionKeys) }
}

function naive(cast: Cast, count: number): Contender {
  const armored = cast.certificates.slice(0, count)
  return {
    name: 'openpgpjs-naive',
    run: async () => {
      const keys = await Promise.all(armored.map((armoredKey) => readKey({ armoredKey })))
      return await sealPlainly(cast, [...keys, cast.signerKey.toPublic()])
    },
  }
}

async function sealPlainly(cast: Cast, encryptionKeys: Cast['publicKeys']): Promise<unknown> {
  const message = await createMessage({ text: TEXT })
  return await encrypt({ message, encryptionKeys, signingKeys: cast.signerKey })
}

function gpgSeal(
  cast: Cast,
  count: number,
  gpg: { env: NodeJS.ProcessEnv; args: string[] },
): Contender {
  const recipients = cast.publicKeys.slice(0, count).flatMap((key) => ['-r', key.getFingerprint()])
  const args = [...gpg.args, '--armor', '--sign', '--encrypt', '--local-user']
  args.push(cast.signer.fingerprint, '-r', cast.signer.fingerprint, ...recipients)
  return {
    name: 'gpg',
    run: () =>
      new Promise<void>((resolve, reject) => {
        const child = spawn('gpg', args, { env: gpg.env, stdio: ['pipe', 'ignore', 'ignore'] })
        child.on('error', reject)
        child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`gpg: ${code}`))))
        child.stdin.end(TEXT)
      }),
  }
}
