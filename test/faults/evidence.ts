/** What the service, its phones and the wire have to say when a run is over. */
import type { Cast } from './cast.ts'
import type { Evidence } from './checker.ts'
import type { Stage } from './troubles.ts'

export async function evidenceOfService({
  service,
  proxy,
  people,
  cast,
  bot: { hasWebhook },
}: Pick<Stage, 'service' | 'proxy' | 'people' | 'bot'> & { cast: Cast }): Promise<
  Omit<Evidence, 'keys' | 'chats' | 'outbox' | 'rotates' | 'log' | 'atRest' | 'secrets'>
> {
  const { alice, bob, bot } = service.home
  const phones = await Promise.all(
    [alice, bob].map(({ id }) => service.surely((control) => control.inbox({ userId: id }))),
  )
  const { key } = await service.surely((control) => control.bot({ botId: bot.id }))
  const { aliceWithBot, bobWithBot, encryptedGroup } = people.chats
  return {
    service: await service.surely((control) => control.transcript({})),
    wire: proxy.sent(),
    phones: phones.map(({ inbox }) => inbox),
    published: key?.fingerprint ?? null,
    journal: cast.journal,
    hasNews: cast.hasNews && hasWebhook,
    readers: cast.readers,
    encryptedChats: [aliceWithBot, bobWithBot, encryptedGroup],
  }
}
