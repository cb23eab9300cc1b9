import { decrypt, readKey, readMessage, readPrivateKey } from 'openpgp'
import { alice, bot } from './openpgp-people.ts'

/** A file that the library opened. */
export interface OpenedFile {
  data: Buffer
  /** Whether its signature is the signer's; undefined when there is none. */
  verdict: boolean | undefined
}

/**
 * Opens a sealed file with the library and the test bot's key.
 * @param certificate armored, whose signature it should be; alice's when absent
 * @throws Error when it is not sealed to the bot, or not intact
 */
export async function openedFile(
  bytes: Uint8Array,
  { certificate }: { certificate: string } = alice,
): Promise<OpenedFile> {
  const { data, signatures } = await decrypt({
    message: await readMessage({ binaryMessage: bytes }),
    decryptionKeys: await readPrivateKey({ binaryKey: bot.secret }),
    verificationKeys: await readKey({ armoredKey: certificate }),
    format: 'binary',
    config: { maxDecompressedMessageSize: 2 ** 30 },
  })
  const verdict = await signatures[0]?.verified.catch(() => false)
  return { data: Buffer.from(data as Uint8Array), verdict }
}
