import { z } from 'zod'
import { PhoneVerdict } from '../phone/seen.ts'
import { publishedKey } from '../rules/keys.ts'
import { accountId, chatId, count, FILE_FORM, messageId, personId, text } from './fields.ts'
import { requireQuoted } from './find.ts'
import { ControlError, operation, type ControlContext } from './operation.ts'

const stored = { mediaId: text, url: z.string().describe('path on the service') }

/** Files that people send, and files stored as they are. */
export const MEDIA = {
  sendMedia: operation(
    'Sends a file (base64) with the person’s phone, with or without text, sealed in an encrypted ' +
      'chat. For tests it can be sealed otherwise than usual: `signedBy` another person’s phone, ' +
      'only `to` these people and bots.',
    z.strictObject({
      userId: personId,
      chatId,
      base64: text,
      text: text.optional(),
      replyTo: messageId.optional(),
      durationMs: count.optional(),
      ...FILE_FORM,
      signedBy: personId.optional(),
      to: z.array(accountId).optional(),
    }),
    z.object({ messageId, ...stored }),
    async (context, input) => {
      const { userId, chatId: id, base64, text: caption, signedBy, to, ...rest } = input
      const { replyTo, durationMs, ...form } = rest
      const { find, phones } = context
      requireQuoted(find.writableChat({ userId, chatId: id }), replyTo)
      const phone = await phones.of(userId)
      const { messageId: sent, mediaId } = await phone.send(id, decodeBase64(base64), {
        text: caption,
        replyTo,
        durationMs,
        form,
        signedBy: signedBy === undefined ? undefined : await phones.of(find.person(signedBy).id),
        to: to?.map((one) => certificateOf(context, one)),
      })
      return { messageId: sent, mediaId, url: `/media/${mediaId}` }
    },
  ),
  openMedia: operation(
    'Gives a file of a message as the person’s phone shows it, opened and verified, and how many ' +
      'bytes the service holds of it. `base64` is empty when the phone cannot open it.',
    z.strictObject({ userId: personId, chatId, messageId, mediaId: text }),
    z.object({
      base64: text,
      verdict: PhoneVerdict,
      signer: text.nullable().describe('fingerprint of the certificate that verified it'),
      storedBytes: z.int(),
    }),
    async ({ world, find, phones }, { userId, ...file }) => {
      find.chatOf({ userId, chatId: file.chatId })
      const { bytes, verdict, signer } = await (await phones.of(userId)).openFile(file)
      const storedBytes = world.files.get(file.mediaId)?.length ?? 0
      return { base64: bytes.toString('base64'), verdict, signer, storedBytes }
    },
  ),
  addMedia: operation(
    'Stores a file, exactly these bytes (base64), for `post`.',
    z.strictObject({ base64: text }),
    z.object(stored),
    ({ world }, { base64 }) => {
      const mediaId = world.storeFile(decodeBase64(base64))
      return { mediaId, url: `/media/${mediaId}` }
    },
  ),
}

/** @throws ControlError when it is not base64, of which Node silently drops characters */
function decodeBase64(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64')
  const [read, given] = [bytes.toString('base64'), base64].map((one) => one.replace(/=+$/, ''))
  if (read === given) return bytes
  throw new ControlError('base64: this is not base64')
}

function certificateOf({ world }: ControlContext, id: number): string {
  const key = publishedKey(world, id)
  if (key === null) throw new ControlError(`${id} has no key to seal to`)
  return key.publicKey
}
