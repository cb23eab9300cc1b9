/** Opening attachments in this process: without threads, and with files that are memory. */
import { openWhole, unpackWhole, unwrap } from '../../src/openpgp/library/open.ts'
import * as native from '../../src/openpgp/native/container.ts'
import { openFileStream } from '../../src/openpgp/stream/open-file.ts'
import type { Room } from '../../src/openpgp/stream/resting.ts'
import type { NotOpened, OpenedFile, UnlockedKey } from '../../src/openpgp/engine.ts'
import { MemoryRoom, contentOf, readerOf } from './memory-room.ts'
import { idsOf } from './openpgp-engine.ts'
import { bot } from './openpgp-people.ts'

export interface Opening {
  form?: 'binary' | 'armored'
  keys?: UnlockedKey[]
  /** In which it arrives. */
  pieces?: number
  room?: Room
}

/** Opens an attachment as the bot, or with the keys given. */
export async function openFile(
  bytes: Uint8Array,
  { form = 'binary', keys = [bot.unlocked], pieces, room = new MemoryRoom() }: Opening = {},
): Promise<OpenedFile | NotOpened> {
  return await openFileStream(readerOf(bytes, pieces), {
    form,
    room,
    own: idsOf(keys),
    unwrap: ({ recipientPackets }) => unwrap(recipientPackets, keys),
    openWhole,
    unpackWhole,
    native,
  })
}

/** What came of it: the content as text, or outcome and reason. */
export async function cameOf(opened: OpenedFile | NotOpened): Promise<string> {
  if (opened.outcome === 'opened')
    return `opened: ${(await contentOf(opened.file)).toString('latin1')}`
  const reason = 'reason' in opened ? opened.reason : undefined
  return reason === undefined ? opened.outcome : `${opened.outcome}: ${reason}`
}
