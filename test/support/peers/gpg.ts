/** GnuPG. */
import { KEY_KINDS } from './peer.ts'
import type { Bytes, Feature, Flags, KeyKind, Peer, PeerWriter } from './peer.ts'
import type { Shop } from './shop.ts'

const GPG_FLAGS: Flags = {
  plain: ['--compress-algo', 'none'],
  zip: ['--compress-algo', 'zip'],
  zlib: ['--compress-algo', 'zlib'],
  bzip2: ['--compress-algo', 'bzip2'],
  anonymous: ['--throw-keyids'],
  'two signers': [],
  'text mode': ['--textmode'],
  'by pipe': ['--compress-algo', 'none'],
  '3des': ['--cipher-algo', '3DES'],
  aes192: ['--cipher-algo', 'AES192'],
  cast5: ['--cipher-algo', 'CAST5'],
}

function gpgWriter(shop: Shop): PeerWriter {
  const runGpg = async (args: string[], input?: Bytes): Promise<string> => {
    const home = await shop.once('gpg writer', () => Promise.resolve())
    const always = ['--homedir', home, '--batch', '--quiet', '--no-tty', '--trust-model=always']
    const loopback = ['--pinentry-mode=loopback', '--passphrase', '']
    return await shop.must('gpg', [...always, ...loopback, ...args], input)
  }
  return {
    kinds: Object.keys(KEY_KINDS) as KeyKind[],
    features: Object.keys(GPG_FLAGS) as Feature[],
    async makeKey(kind, name) {
      const [primary, subkey] = KEY_KINDS[kind]
      const made = await runGpg([
        '--status-fd=1',
        '--quick-generate-key',
        name,
        primary,
        'cert,sign',
        'never',
      ])
      const id = /KEY_CREATED \w ([0-9A-F]{40})/.exec(made)?.[1] ?? ''
      await runGpg(['--quick-add-key', id, subkey, 'encr', 'never'])
      const certificate = await runGpg(['--armor', '--export', id])
      return { certificate, secret: await runGpg(['--armor', '--export-secret-keys', id]), id }
    },
    async seal({ text, to, signers, feature = 'two signers' }) {
      const by = signers.flatMap(({ id }) => ['-u', id])
      const recipients = (await shop.files(to)).map((file) => `--recipient-file=${file}`)
      const flags = [...(GPG_FLAGS[feature] ?? []), ...by, ...recipients]
      return await runGpg(['--armor', ...flags, '--sign', '--encrypt'], text)
    },
  }
}

/** GnuPG, with a home for each set of keys. */
export async function gpg(shop: Shop): Promise<Peer> {
  const home = (path: string): string[] => ['--homedir', path, '--batch', '--quiet', '--no-tty']
  const clock = (atMs: number): string[] => [
    '--trust-model=always',
    `--faked-system-time=${new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+Z$/g, '')}!`,
  ]
  const homeOf = (secrets: readonly Bytes[]): Promise<string> =>
    shop.once(`gpg ${secrets.join(' ')}`, async (path) => {
      for (const secret of secrets) await shop.run('gpg', [...home(path), '--import'], secret)
    })
  return {
    version: await shop.version('gpg', '--version'),
    writer: gpgWriter(shop),
    async open({ message, secrets, certificate, atMs }) {
      const path = await homeOf(secrets)
      const ring = shop.path()
      const rings = ['--keyring', ring]
      await shop.run(
        'gpg',
        [...home(path), '--no-default-keyring', ...rings, '--import'],
        certificate,
      )
      const args = [...home(path), ...rings, ...clock(atMs), '--status-fd=2', '--decrypt']
      const { stderr } = await shop.run('gpg', args, message)
      const valid = stderr.match(/^\[GNUPG:\] GOODSIG /gm)?.length ?? 0
      // it stops at a bad signature, before it reports whether the rest is whole
      const opened = await shop.run('gpg', ['--skip-verify', ...args], message)
      // its exit code is an error where it tried a key in vain, also where another one opened
      const isOkay = /DECRYPTION_OKAY/.test(opened.stderr) && !/_FAILED/.test(opened.stderr)
      return { text: opened.isDone || isOkay ? opened.stdout : null, valid }
    },
    async encrypts(certificate, atMs) {
      const path = await shop.once('gpg', () => Promise.resolve())
      const to = `--recipient-file=${await shop.file(certificate)}`
      const args = [...home(path), '--no-autostart', ...clock(atMs), to, '--encrypt']
      return (await shop.run('gpg', args, 'x')).isDone
    },
  }
}
