/** openpgp.js with its own defaults, as a program of `sop.ts`. */
import { readFileSync } from 'node:fs'
import {
  createMessage,
  decrypt,
  encrypt,
  readKey,
  readMessage,
  readPrivateKey,
  type PrivateKey,
} from 'openpgp'
import type { Program } from './sop.ts'

interface Package {
  version: string
}
const { version } = JSON.parse(
  readFileSync(new URL('../../node_modules/openpgp/package.json', import.meta.url), 'utf8'),
) as Package

/** @param keyFile gives the path of a key in `keys/` by the name of its file */
export function openpgpjs(keyFile: (name: string) => string): Program {
  const read = (name: string): string => readFileSync(keyFile(name), 'utf8')
  const secretKey = (name: string): Promise<PrivateKey> =>
    readPrivateKey({ armoredKey: read(`${name}.secret.asc`) })
  return {
    version: `openpgp.js ${version}`,
    async open({ body, readers, signer, now }) {
      try {
        const { data, signatures } = await decrypt({
          message: await readMessage({ armoredMessage: body }),
          decryptionKeys: await Promise.all(readers.map(secretKey)),
          verificationKeys: await readKey({ armoredKey: read(`${signer}.asc`) }),
          date: new Date(now),
          format: 'binary',
        })
        const verified = await Promise.allSettled(signatures.map((one) => one.verified))
        const valid = verified.filter(({ status }) => status === 'fulfilled').length
        return { text: Buffer.from(data), valid }
      } catch {
        return { text: null, valid: 0 }
      }
    },
    hasClock: true,
    async encrypts(certificate, now) {
      try {
        const encryptionKeys = await readKey({ armoredKey: certificate })
        const message = await createMessage({ text: 'x' })
        await encrypt({ message, encryptionKeys, date: new Date(now) })
        return true
      } catch {
        return false
      }
    },
  }
}
