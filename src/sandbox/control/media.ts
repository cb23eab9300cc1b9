import { storeFile } from '../rules/files.ts'
import type { Phone } from '../phone.ts'
import { publishedKey } from '../views/keys.ts'
import { integer, list, object, oneOf, string } from './schema.ts'
import {
  ControlError,
  demandAbleToWrite,
  operation,
  thePerson,
  type Backstage,
} from './operation.ts'

/** Files that people send, and files as they are. */
export const MEDIA = {
  /**
   * Sends a file (base64) with the person's phone, with or without words: sealed where the chat is
   * encrypted, plain where it is readable. What is absent is as it should be; the rest is for
   * tests: how it is sealed, `signedBy` another person's phone, only `to` these people and bots.
   */
  sendMedia: operation(
    object(
      { userId: integer, chatId: integer, base64: string },
      {
        text: string,
        replyTo: integer,
        durationMs: integer,
        compression: oneOf(['none', 'zip', 'zlib']),
        recipients: oneOf(['named', 'anonymous']),
        signature: oneOf(['signed', 'none', 'damaged']),
        framing: oneOf(['whole', 'partial']),
        cipher: oneOf(['aes256', 'aes128']),
        encoding: oneOf(['binary', 'armored']),
        signedBy: integer,
        to: list(integer),
      },
    ),
    async (on, { userId, chatId, base64, text, replyTo, durationMs, signedBy, to, ...form }) => {
      demandAbleToWrite(on, { userId, chatId })
      const phone = await on.phones.of(userId)
      const { messageId, mediaId } = await phone.send(chatId, octetsOf(base64), {
        text,
        replyTo,
        durationMs,
        form,
        signedBy: signedBy === undefined ? undefined : await phoneOf(on, signedBy),
        to: to?.map((id) => certificateOf(on, id)),
      })
      return { messageId, mediaId, url: `/media/${mediaId}` }
    },
  ),
  /** Stores a file, exactly these bytes (base64), for `post`. */
  addMedia: operation(object({ base64: string }), ({ world }, { base64 }) => {
    const mediaId = storeFile(world, octetsOf(base64))
    return { mediaId, url: `/media/${mediaId}` }
  }),
}

/** @throws ControlError when it is not base64: what Node leaves out would be missing in silence */
function octetsOf(base64: string): Buffer {
  const octets = Buffer.from(base64, 'base64')
  const digits = base64.length - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)
  if (octets.length !== Math.floor((digits * 3) / 4)) throw new ControlError('this is not base64')
  return octets
}

async function phoneOf(on: Backstage, userId: number): Promise<Phone> {
  return await on.phones.of(thePerson(on, userId).id)
}

function certificateOf({ world }: Backstage, id: number): string {
  const key = publishedKey(world, id)
  if (key === null) throw new ControlError(`${id} has no key to seal to`)
  return key.publicKey
}
