/** What the service, its phones and the wire have to say when a run is over. */
import type { Proxy } from '../support/faults-proxy.ts'
import type { Cast } from './cast.ts'
import type { Evidence } from './checker.ts'
import type { People } from './people.ts'
import type { Service } from './service.ts'

export async function evidenceOfService(o: {
  service: Service
  proxy: Proxy
  people: People
  cast: Cast
}): Promise<
  Omit<Evidence, 'keys' | 'chats' | 'outbox' | 'hasNews' | 'rotates' | 'log' | 'atRest' | 'secrets'>
> {
  const { service, proxy, people, cast } = o
  const { alice, bob, bot } = service.home
  const inboxes = [alice, bob].map(({ id }) =>
    service.surely((control) => control.inbox({ userId: id })),
  )
  const phones = await Promise.all(inboxes)
  const { key } = await service.surely((control) => control.bot({ botId: bot.id }))
  const { aliceWithBot, bobWithBot, encryptedGroup } = people.chats
  return {
    service: await service.surely((control) => control.transcript({})),
    wire: proxy.sent(),
    phones: phones.map(({ inbox }) => inbox),
    published: key?.fingerprint ?? null,
    journal: cast.journal,
    readers: cast.readers,
    encryptedChats: [aliceWithBot, bobWithBot, encryptedGroup],
  }
}
