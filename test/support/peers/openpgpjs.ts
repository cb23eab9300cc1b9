/** openpgp.js, with its own defaults. */
import { readFile } from 'node:fs/promises'
import { createMessage, decrypt, encrypt, readKey, readMessage, readPrivateKey } from 'openpgp'
import type { PrivateKey } from 'openpgp'
import type { Bytes, Peer } from './peer.ts'

const isArmored = (bytes: Bytes): bytes is string => typeof bytes === 'string'

/** openpgp.js in this process, which must not have loaded our own profile. */
export async function openpgpjs(): Promise<Peer> {
  const secretOf = (key: Bytes): Promise<PrivateKey> =>
    isArmored(key) ? readPrivateKey({ armoredKey: key }) : readPrivateKey({ binaryKey: key })
  const keyOf = (key: Bytes) =>
    isArmored(key) ? readKey({ armoredKey: key }) : readKey({ binaryKey: key })
  const file = new URL('../../../node_modules/openpgp/package.json', import.meta.url)
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string }
  return {
    version: `openpgp.js ${version}`,
    async open({ message, secrets, certificate, atMs }) {
      const decryptionKeys = await Promise.all(secrets.map(secretOf))
      const date = new Date(atMs)
      const opened = async (verificationKeys: Awaited<ReturnType<typeof keyOf>>[]) => {
        const options = { decryptionKeys, verificationKeys, date, format: 'binary' as const }
        return isArmored(message)
          ? await decrypt({ ...options, message: await readMessage({ armoredMessage: message }) })
          : await decrypt({ ...options, message: await readMessage({ binaryMessage: message }) })
      }
      try {
        const keys = await keyOf(certificate)
          .then((key) => [key])
          .catch(() => [])
        const { data, signatures } = await opened(keys)
        const verified = await Promise.allSettled(signatures.map((one) => one.verified))
        const valid = verified.filter(({ status }) => status === 'fulfilled').length
        return { text: Buffer.from(data as Uint8Array), valid }
      } catch {
        return { text: null, valid: 0 }
      }
    },
    async encrypts(certificate, atMs) {
      try {
        const message = await createMessage({ text: 'x' })
        await encrypt({ message, encryptionKeys: await keyOf(certificate), date: new Date(atMs) })
        return true
      } catch {
        return false
      }
    },
  }
}
