/** A stored file in a private chat with Alice, and all that an attachment is opened with. */
import type { MediaPlace } from '../../src/kernel/index.ts'
import { vi } from 'vitest'
import type { OpenedFile } from '../../src/openpgp/engine.ts'
import { RestingWriter, type RestingFile } from '../../src/openpgp/stream/resting.ts'
import type { AttachmentParts } from '../../src/attachments/attachment.ts'
import { ALICE, claim, known, partsOf } from '../kernel/opening/signatures-scene.ts'
import { MemoryRoom } from '../support/memory-room.ts'
import { encryptedMessage } from '../translate/support.ts'

export const PLACE: MediaPlace = { mediaId: 'abc', chatId: 50, userId: ALICE }
export const SEALED = Buffer.from(encryptedMessage())

/** A protected chat and a file that Alice signed; a test changes it. */
export function scene() {
  const room = new MemoryRoom()
  const all = {
    ...known(),
    stored: [SEALED.subarray(0, 100), SEALED.subarray(100)] as Uint8Array[],
    left: vi.fn(),
    personId: ALICE as number | null,
    mustSeal: vi.fn((_chatId: number) => true),
    mode: vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open')),
    openFile: vi.fn(async (_reader: unknown, _how: object): Promise<object> => await opened()),
    before: 'none',
    openedBefore: vi.fn((_place: MediaPlace, _digest: string) => Promise.resolve(all.before)),
    noteOpened: vi.fn((_place: MediaPlace, _digest: string) => Promise.resolve(true)),
    recognized: 'new',
    recognize: vi.fn((_sighting: object, _claims: string[]) => Promise.resolve(all.recognized)),
    remember: vi.fn((_sighting: object, _as: string) => Promise.resolve()),
    rememberSigned: vi.fn((_people: number[], _kind: string) => Promise.resolve()),
    onOpened: vi.fn(),
    policyOfVerify: 'flag',
  }

  async function opened(content = Buffer.from('%PDF-1.7 words')): Promise<Partial<OpenedFile>> {
    const writer = new RestingWriter(await room.file())
    await writer.write(content)
    const file: RestingFile = await writer.finish()
    return {
      outcome: 'opened',
      file,
      dataDigest: 'data digest',
      openedWith: 'own fingerprint',
      signatures: [claim],
      signed: { document: new Uint8Array(), signatures: [] },
      recipients: { keyIds: new Uint8Array(), hasUnnamed: true },
    } as unknown as Partial<OpenedFile>
  }

  async function* bytes(): AsyncGenerator<Uint8Array> {
    try {
      yield* all.stored
    } finally {
      all.left()
    }
  }

  const parts = (): AttachmentParts => {
    const bySignatures = partsOf(all)
    return {
      ...bySignatures,
      fresh: () => Promise.resolve(),
      engine: { ...bySignatures.engine, openFile: all.openFile },
      people: { ...bySignatures.people, rememberSigned: all.rememberSigned },
      replayMemory: {
        reaches: () => all.reaches,
        batch: (judge: (check: object) => Promise<unknown>) =>
          judge({ recognize: all.recognize, remember: all.remember }),
      },
      knownChats: { personOf: () => all.personId, isPrivate: () => true },
      audience: 'check',
      modes: {
        get: async (id: number, sinceMs: number) => ({ mode: await all.mode(id, sinceMs) }),
      },
      guard: { mustSeal: all.mustSeal },
      named: { openedBefore: all.openedBefore, opened: all.noteOpened },
      room,
      verify: all.policyOfVerify,
      onOpened: all.onOpened,
      stored: vi.fn(() => Promise.resolve(bytes())),
    } as unknown as AttachmentParts
  }
  return { all, files: room.files, parts, opened, room }
}
