/** Operations on the clients of the bot's door. Times are ISO 8601 in UTC. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { CLIENT_TOKEN_PREFIX, tokenHashOf } from '../api/bot.ts'
import { certificateCredential, certificateIn } from '../api/bot.ts'
import { AddedClient, ClientName, scopeOf } from '../config/client-entry.ts'
import { LOST, type OutboxEntries } from '../outbox/entries.ts'
import { iso, nothing, operation } from './operation.ts'
import { LogPage, readLog } from './trust.ts'

/** A client, without its token. */
export type ClientRow = Awaited<ReturnType<typeof CLIENTS.clientList.run>>[number]

/** Its token, null for one with a certificate, and lines about calls that it gave before. */
export type MadeToken = Awaited<ReturnType<typeof CLIENTS.clientAdd.run>>

const named = z.strictObject({ name: ClientName })

export const CLIENTS = {
  /** Every client of the bot’s door. */
  clientList: operation(nothing, ({ clients }) =>
    clients.all.map(({ credential, expiresAtMs, createdAtMs, isSuspended = false, ...client }) => ({
      ...client,
      isSuspended,
      /** SHA-256 of its TLS certificate; null for one with a token. */
      certificate: certificateIn(credential),
      expiresAt: iso(expiresAtMs),
      /** Null for one of the settings. */
      createdAt: iso(createdAtMs),
    })),
  ),
  /** Adds a client; the answer alone has its token, null for one with a TLS certificate. */
  clientAdd: operation(AddedClient, async ({ clients }, { name, certificate, ...entry }) => {
    const token = certificate === undefined ? newToken() : null
    const credential = token === null ? certificateCredential(certificate) : tokenHashOf(token)
    await clients.add({ ...scopeOf(entry), name, credential, createdAtMs: Date.now() })
    return { name, token, refused: [] as string[] }
  }),
  /** Gives a client another token; the one before opens nothing, and calls given by it are refused. */
  clientRotate: operation(named, async ({ clients, outbox }, { name }) => {
    const token = newToken()
    await clients.rotate(name, tokenHashOf(token))
    return { name, token, refused: await refusedCalls(outbox, name) }
  }),
  /** Removes a client; its token opens nothing any more, and calls given by it are refused. */
  clientRemove: operation(named, async ({ clients, outbox }, { name }) => {
    await clients.remove(name)
    const refused = await refusedCalls(outbox, name)
    return { message: [`client ${name} is removed`, ...refused].join('\n') }
  }),
  /** Lets a client call again that is suspended since a backup was restored. */
  clientConfirm: operation(named, async ({ clients }, { name }) => {
    await clients.confirm(name)
    return { message: `client ${name} may call again` }
  }),
  /** Changes of a client and its refusals, each noted once an hour, oldest first. */
  clientLog: operation(named.extend(LogPage.shape), ({ journal }, { name: client, ...range }) =>
    readLog(journal, { ...range, sinceMs: 0, client }),
  ),
}

/** Refuses calls given with a former credential. @returns a line for each */
async function refusedCalls(outbox: OutboxEntries, name: string): Promise<string[]> {
  await outbox.refuseLost(Date.now())
  const refused = outbox.all.filter(({ client, code }) => client === name && code === LOST)
  return refused.map(({ id }) => `refused, and leaves no more: ${id}`)
}

const newToken = (): string => `${CLIENT_TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`
