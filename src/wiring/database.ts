/** The database of `store.url`; its client is loaded for it alone. */
import type { SecretSource } from '../config/secrets.ts'
import type { PostgresServer } from '../store/postgres/server.ts'
import { DeliverySpread } from '../updates/delivery-spread.ts'
import type { SharedDatabase } from './parts.ts'

/**
 * Makes no connection yet. Whoever asks disposes of it, after the stores.
 * @throws OperatorError `settings` when the URL is wrong
 */
export async function connectTo(
  url: SecretSource,
  { caFile, isOfSeveral = false }: { caFile?: string | undefined; isOfSeveral?: boolean },
): Promise<PostgresServer> {
  const { PostgresServer: Server } = await import('../store/postgres/server.ts')
  return new Server({ url: url.reveal(), caFile, isOfSeveral })
}

/** The database of several bots. @throws OperatorError `settings` when the URL is wrong */
export async function connectForSeveral(
  url: SecretSource,
  { caFile }: { caFile?: string | undefined },
): Promise<SharedDatabase & AsyncDisposable> {
  const server = await connectTo(url, { caFile, isOfSeveral: true })
  return {
    server,
    spread: new DeliverySpread(() => server.holders.look()),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
