/** How a database is, for an operator. */
import { describeAddress, parseAddress } from './address.ts'
import { requireSettings, withClient, type DatabaseClient } from './client.ts'
import { requireWritable, toOperator } from './failures.ts'
import { quoted } from './schema.ts'

/** Time limit of the whole inspection. */
const LOOK_MS = 10_000

export type DatabaseState = Awaited<ReturnType<typeof lookAtDatabase>>

const SERVER = `
  SELECT current_setting('server_version') AS version,
    current_setting('server_version_num')::int AS "versionNumber",
    current_setting('transaction_read_only') AS "readOnly",
    current_setting('synchronous_standby_names') AS standbys,
    current_setting('fsync') = 'on' AS "isFsyncOn",
    has_database_privilege(current_database(), 'CREATE') AS "canMakeSchema",
    to_regnamespace($1) IS NOT NULL AS "hasSchema",
    to_regclass($2) IS NOT NULL AS "hasStore"`

const FOREIGN = `
  SELECT count(*)::int AS count FROM pg_class
  WHERE relnamespace = to_regnamespace($1) AND relkind = 'r'
    AND NOT pg_has_role(relowner, 'USAGE')`

interface ServerRow {
  /** The server's version: text such as `15.4`, and number, 150004. */
  version: string
  versionNumber: number
  readOnly: string
  /** For which standbys a commit of ours waits, beside the server (`synchronous_standby_names`). */
  standbys: string
  /** False: not even the server's disk is waited for. */
  isFsyncOn: boolean
  canMakeSchema: boolean
  hasSchema: boolean
  hasStore: boolean
}

/**
 * Inspects the database by a connection of its own.
 * @returns `place` where it is, without the password; `tls` the protocol, with an authenticated server,
 *   null where nothing leaves the machine
 * @throws OperatorError `settings`, or for everything that keeps a store there from opening
 */
export async function lookAtDatabase(o: {
  url: string
  caFile?: string | undefined
  schema: string
}) {
  const address = parseAddress(o.url, o.caFile)
  const look = async (client: DatabaseClient) => {
    await requireSettings(client, 'session')
    const state = await lookThrough(client, o.schema)
    return { ...state, place: describeAddress(address), tls: client.tlsProtocol }
  }
  return await withClient(address, LOOK_MS, look).catch((error: unknown) => {
    throw toOperator(error, address)
  })
}

/**
 * @returns `schema` null when there is none by that name; in it `foreignTables`, which belong to
 *   somebody else, and `store`, null when none was made there
 */
async function lookThrough(client: DatabaseClient, schema: string) {
  const name = quoted(schema)
  const { rows } = await client.query<ServerRow>(SERVER, [name, `${name}.state`])
  const [{ readOnly, hasSchema, hasStore, ...state }] = rows as [ServerRow]
  requireWritable(readOnly)
  if (!hasSchema) return { ...state, schema: null }
  const foreign = await client.query<{ count: number }>(FOREIGN, [name])
  const foreignTables = foreign.rows[0]?.count ?? 0
  if (!hasStore || foreignTables > 0) return { ...state, schema: { foreignTables, store: null } }
  const found = await client.query<{ version: number; oldest: number }>(
    `SELECT version, oldest FROM ${name}.state`,
  )
  return { ...state, schema: { foreignTables, store: found.rows[0] ?? null } }
}
