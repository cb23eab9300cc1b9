/** Sequoia. */
import { readFile } from 'node:fs/promises'
import type { Feature, Flags, KeyKind, Peer } from './peer.ts'
import type { Shop } from './shop.ts'

const SQ_SUITES: Partial<Record<KeyKind, string>> = {
  cv25519: 'cv25519',
  rsa3072: 'rsa3k',
  rsa4096: 'rsa4k',
}
const SQ_FLAGS: Flags = {
  plain: ['--compression', 'none'],
  zip: ['--compression', 'zip'],
  zlib: ['--compression', 'zlib'],
  bzip2: ['--compression', 'bzip2'],
  padded: ['--compression', 'pad'],
  'two signers': [],
  'by pipe': [],
}

/** Sequoia by its own command, beside `sqop`. */
export async function sq(shop: Shop): Promise<Peer> {
  return {
    version: await shop.version('sq', '--version'),
    writer: {
      kinds: Object.keys(SQ_SUITES) as KeyKind[],
      features: Object.keys(SQ_FLAGS) as Feature[],
      async makeKey(kind, name) {
        const id = shop.path()
        const suite = ['--cipher-suite', SQ_SUITES[kind] ?? '']
        await shop.must('sq', ['key', 'generate', '--userid', name, ...suite, '--export', id])
        const certificate = await shop.must('sq', ['key', 'extract-cert', id])
        return { certificate, secret: await readFile(id, 'utf8'), id }
      },
      async seal({ text, to, signers, feature = 'two signers' }) {
        const by = signers.flatMap(({ id }) => ['--signer-key', id])
        const recipients = (await shop.files(to)).flatMap((file) => ['--recipient-cert', file])
        const flags = [...(SQ_FLAGS[feature] ?? []), ...by, ...recipients]
        if (feature === 'by pipe') return await shop.must('sq', ['encrypt', ...flags], text)
        return await shop.must('sq', ['encrypt', ...flags, await shop.file(text)])
      },
    },
    async open({ message, secrets, certificate }) {
      const keys = (await shop.files(secrets)).flatMap((file) => ['--recipient-key', file])
      const out = shop.path()
      const args = [...keys, '--signer-cert', await shop.file(certificate), '-o', out]
      const { isDone, stderr } = await shop.run('sq', ['decrypt', ...args], message)
      if (!isDone) return { text: null, valid: 0 }
      const valid = Number(/(\d+) good signature/.exec(stderr)?.[1] ?? 0)
      return { text: await readFile(out), valid }
    },
    async encrypts(certificate) {
      const to = ['--recipient-cert', await shop.file(certificate)]
      return (await shop.run('sq', ['encrypt', ...to], 'x')).isDone
    },
  }
}
