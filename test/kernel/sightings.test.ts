/** What an answer shows is on disk before its content is given. */
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { PeopleObserver, type PeopleObserverParts } from '../../src/kernel/people/observe.ts'
import { recipientsOf, type RecipientParts } from '../../src/kernel/people/recipients.ts'
import type { Sightings } from '../../src/kernel/sightings.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { Freshness } from '../../src/kernel/wall/grounds.ts'
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { sightingsOf } from '../support/unseen.ts'
import { judging } from './people/people-scene.ts'

const REFUSED = new Refusal('postern_store_unwritable', 'no room')
const refuses = (): Promise<never> => Promise.reject(REFUSED)
const works = async (): Promise<void> => {}

describe('a sighting that cannot be written', () => {
  const chat = { id: 5, kind: 'group', mode: 'open', memberCount: 2, historyVisible: true }
  const update = { updateId: 1, kind: 'message', message: { id: 1, chatId: 5, kind: 'group' } }
  const freshness = new Freshness(works, SYSTEM_TIME)
  const knownChats = {
    saw: refuses,
    sawNotices: works,
    get: () => undefined,
    isUnwritten: () => true,
  }

  const READINGS: Record<string, (sightings: Sightings) => Promise<unknown>> = {
    'the chat': (sightings) => sightings.sawChat(new Unseen(chat), 5),
    'the refusal of readable text': (sightings) => sightings.sawProtected(5),
  }

  test.each(Object.entries(READINGS))(
    'the content of an answer about %s is not given before its sighting is written',
    async (_name, read) => {
      await expect(read(sightingsOf({ knownChats }))).rejects.toBe(REFUSED)
    },
  )

  test('`sawUpdates` records none of the updates whose sighting cannot be written', async () => {
    const sightings = sightingsOf({ knownChats })
    const updates = sightings.readUpdates(new Unseen([update]))
    const seen = await sightings.sawUpdates(updates, { most: 1, freshness, botId: 7 })
    expect(seen).toMatchObject({ recorded: 0, failure: REFUSED })
  })
})

describe('listings that cannot be written', () => {
  test('a person’s record is not given before the withdrawal of the listing is written', async () => {
    const trust = { saw: refuses, isRemembered: () => true }
    const certificates = { judge: judging(), keepCopies: works, rememberRevoked: works }
    const parts = { certificates, trust, keyListHistory: {}, knownKeys: {} }
    const observer = new PeopleObserver(parts as unknown as PeopleObserverParts)
    await expect(observer.observeUserKey(1, null)).rejects.toBe(REFUSED)
  })

  test('a private chat has no recipients before its person is written', async () => {
    const list = {
      people: [{ userId: 1, fingerprint: 'a', unusable: null, certificateStatus: {} }],
      nameless: 0,
      tooMany: null,
    }
    const parts = {
      knownChats: { isPrivate: () => true, personOf: () => null, saw: refuses },
      botId: () => 7,
    }
    const recipients = recipientsOf(50, list as never, parts as unknown as RecipientParts)
    await expect(recipients).rejects.toBe(REFUSED)
  })
})
