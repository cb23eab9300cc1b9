/** RNP. */
import { cp } from 'node:fs/promises'
import { readKey } from 'openpgp'
import type { Bytes, Feature, Flags, KeyKind, Peer, PeerWriter } from './peer.ts'
import type { Shop } from './shop.ts'

/** Answers to the questions of `rnpkeys --expert`: algorithm, then curve. */
const RNP_EXPERT: Partial<Record<KeyKind, string>> = {
  cv25519: '22\n',
  p256: '19\n1\n',
  p384: '19\n2\n',
  p521: '19\n3\n',
  bp256: '19\n4\n',
  bp384: '19\n5\n',
  bp512: '19\n6\n',
}
const RNP_FLAGS: Flags = {
  plain: ['-z', '0'],
  zip: ['--zip', '-z', '6'],
  zlib: ['--zlib', '-z', '6'],
  bzip2: ['--bzip', '-z', '6'],
  'two signers': [],
  '3des': ['--cipher', 'TRIPLEDES'],
  aes192: ['--cipher', 'AES192'],
  cast5: ['--cipher', 'CAST5'],
}

function rnpWriter(shop: Shop): PeerWriter {
  const runRnp = async (program: string, args: string[], input?: Bytes): Promise<string> => {
    const home = await shop.once('rnp writer', () => Promise.resolve())
    const always = ['--homedir', home, '--password', '', '--notty']
    return await shop.must(program, [...always, ...args], input)
  }
  return {
    kinds: [...(Object.keys(RNP_EXPERT) as KeyKind[]), 'rsa2048', 'rsa3072', 'rsa4096'],
    features: Object.keys(RNP_FLAGS) as Feature[],
    async makeKey(kind, name) {
      const expert = RNP_EXPERT[kind]
      const how = expert === undefined ? ['--numbits', kind.slice('rsa'.length)] : ['--expert']
      await runRnp('rnpkeys', ['--generate-key', '--userid', name, ...how], expert)
      const certificate = await runRnp('rnpkeys', ['--export-key', name])
      return {
        certificate,
        secret: await runRnp('rnpkeys', ['--export-key', '--secret', name]),
        id: name,
      }
    },
    async seal({ text, to, signers, feature = 'two signers' }) {
      // with files of the recipients it would read no key of the signers
      for (const file of await shop.files(to)) await runRnp('rnpkeys', ['--import-keys', file])
      const keys = await Promise.all(to.map((armoredKey) => readKey({ armoredKey })))
      const recipients = keys.flatMap((key) => ['-r', key.getFingerprint()])
      const by = signers.flatMap(({ id }) => ['-u', id])
      const flags = [...(RNP_FLAGS[feature] ?? []), ...by, ...recipients]
      const args = ['--encrypt', '--sign', '--armor', ...flags, '--output', '-']
      return await runRnp('rnp', args, text)
    },
  }
}

/** RNP, with a home for each set of keys. */
export async function rnp(shop: Shop): Promise<Peer> {
  const importing = async (path: string, keys: readonly Bytes[]): Promise<void> => {
    for (const key of keys) {
      await shop.run('rnpkeys', ['--homedir', path, '--import', await shop.file(key)])
    }
  }
  const clock = (atMs: number): string[] => ['--current-time', String(Math.floor(atMs / 1000))]
  return {
    version: await shop.version('rnp', '--version'),
    writer: rnpWriter(shop),
    async open({ message, secrets, certificate, atMs }) {
      const path = await shop.once(`rnp ${secrets.join(' ')}`, (at) => importing(at, secrets))
      const both = await shop.fresh(async (at) => {
        await cp(path, at, { recursive: true })
        await importing(at, [certificate])
      })
      const args = ['--homedir', both, ...clock(atMs), '--password', '', '--decrypt']
      const file = await shop.file(message)
      const { isDone, stdout, stderr } = await shop.run('rnp', [...args, file, '--output', '-'])
      const valid = stderr.match(/Good signature made/g)?.length ?? 0
      return { text: isDone || stdout.length > 0 ? stdout : null, valid }
    },
    async encrypts(certificate, atMs) {
      const path = await shop.once('rnp', () => Promise.resolve())
      const args = [
        '--homedir',
        path,
        ...clock(atMs),
        '--encrypt',
        '-f',
        await shop.file(certificate),
      ]
      return (await shop.run('rnp', [...args, '--output', '-'], 'x')).isDone
    },
  }
}
