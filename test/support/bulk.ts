/** Opening attachments in this process: without threads, and with files that are memory. */
import { openWhole, unpackWhole, unwrap } from '../../src/pgp/library/open.ts'
import { ByteReader } from '../../src/pgp/format/byte-reader.ts'
import { openFileStream } from '../../src/pgp/stream/open-file.ts'
import type { RawFile, Room } from '../../src/pgp/stream/raw-file.ts'
import type { RestingFile } from '../../src/pgp/stream/resting.ts'
import type { NotOpened, OpenedFile, UnlockedKey } from '../../src/pgp/engine.ts'
import { idsOf } from './openpgp-engine.ts'
import { bot } from './openpgp-people.ts'

/** Bytes in memory in the place of a file; `bytesOnDisk` shows what a disk would hold. */
export class MemoryRoom implements Room {
  readonly files: MemoryFile[] = []

  file(): Promise<MemoryFile> {
    const file = new MemoryFile()
    this.files.push(file)
    return Promise.resolve(file)
  }

  get open(): number {
    return this.files.filter(({ isClosed }) => !isClosed).length
  }

  get bytesOnDisk(): Buffer {
    return Buffer.concat(this.files.map(({ content }) => content))
  }
}

export class MemoryFile implements RawFile {
  isClosed = false
  #pieces: Buffer[] = []

  get bytes(): number {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0)
  }

  get content(): Buffer {
    return Buffer.concat(this.#pieces)
  }

  append(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(Buffer.from(bytes))
    return Promise.resolve()
  }

  read(at: number, bytes: number): Promise<Buffer> {
    return Promise.resolve(this.content.subarray(at, at + bytes))
  }

  close(): Promise<void> {
    this.isClosed = true
    return Promise.resolve()
  }
}

/** Bytes as they might arrive: in pieces of so many. */
export async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    yield await Promise.resolve(bytes.subarray(at, at + size))
  }
}

export const readerOf = (bytes: Uint8Array, size = 65_536): ByteReader =>
  new ByteReader(inPieces(bytes, size))

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
    openWhole: (packets, container) => openWhole(packets, container, keys),
    unpackWhole,
  })
}

/** All bytes of a file at rest, or of a part of it. */
export async function contentOf(file: RestingFile, start?: number, end?: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of file.read(start, end)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** What came of it: the content as text, or outcome and reason. */
export async function cameOf(opened: OpenedFile | NotOpened): Promise<string> {
  if (opened.outcome === 'opened')
    return `opened: ${(await contentOf(opened.file)).toString('latin1')}`
  const reason = 'reason' in opened ? opened.reason : undefined
  return reason === undefined ? opened.outcome : `${opened.outcome}: ${reason}`
}
